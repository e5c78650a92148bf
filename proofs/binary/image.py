"""image: the shared library as the loader makes it: code, constants, and what its global offset table holds. This file is believed."""
import copy

from elftools.elf.elffile import ELFFile

IMAGE_READ_ONLY = (".text", ".plt", ".plt.got", ".plt.sec", ".rodata", ".init", ".fini")


class Image:
    def __init__(self, path):
        with open(path, "rb") as f:
            elf = ELFFile(f)
            self.sections = [(s.name, s["sh_addr"], bytearray(s.data())) for s in elf.iter_sections()
                             if s.name in IMAGE_READ_ONLY and s["sh_size"]]
            symbols = list(elf.get_section_by_name(".symtab").iter_symbols())
            self.functions, self.names, self.tls, self.objects, self.sizes = {}, {}, {}, {}, {}
            for s in symbols:
                if s["st_shndx"] == "SHN_UNDEF":
                    continue
                if s["st_info"]["type"] == "STT_FUNC":
                    name = s.name.split("@")[0]
                    self.functions[name] = s["st_value"]
                    self.sizes[s["st_value"]] = s["st_size"]
                    self.names.setdefault(s["st_value"], set()).add(name)
                elif s["st_info"]["type"] == "STT_TLS":
                    self.tls[s["st_value"]] = s.name
                elif s["st_info"]["type"] == "STT_OBJECT":
                    self.objects[s.name] = s["st_value"]
            self.exported = sorted({s.name.split("@")[0] for s in elf.get_section_by_name(".dynsym").iter_symbols()
                                    if s["st_shndx"] != "SHN_UNDEF" and s["st_info"]["type"] == "STT_FUNC"})
            self.table = {}             # address in the offset table -> ("image", address), ("tls", offset) or ("symbol", name)
            for name in (".rela.dyn", ".rela.plt"):
                section = elf.get_section_by_name(name)
                dynamic = elf.get_section_by_name(".dynsym")
                for r in section.iter_relocations() if section else ():
                    symbol = dynamic.get_symbol(r["r_info_sym"]) if r["r_info_sym"] else None
                    kind = {8: "image", 18: "tls", 6: "symbol", 7: "symbol"}.get(r["r_info_type"])
                    if kind == "symbol" and r["r_addend"] == 0:
                        self.table[r["r_offset"]] = "symbol", symbol.name
                    elif kind in ("image", "tls"):
                        self.table[r["r_offset"]] = kind, r["r_addend"] + (symbol["st_value"] if symbol else 0)
            self.table_sections = [(s["sh_addr"], s["sh_addr"] + s["sh_size"]) for s in elf.iter_sections() if s.name.startswith(".got")]
            relro = [s for s in elf.iter_segments() if s["p_type"] == "PT_GNU_RELRO"][0]
            self.relro = relro["p_vaddr"], relro["p_vaddr"] + relro["p_memsz"]

    def changed(self, address, data):
        """a copy with these bytes there"""
        other = copy.copy(self)
        other.sections = [(name, start, bytearray(content)) for name, start, content in self.sections]
        name, start, content = other.section(address)
        content[address - start:address - start + len(data)] = data
        return other

    def section(self, address):
        for section in self.sections:
            if section[1] <= address < section[1] + len(section[2]):
                return section
        return None

    def bytes_at(self, address, n):
        """the n bytes there that nothing ever writes, or None"""
        section = self.section(address)
        return bytes(section[2][address - section[1]:address - section[1] + n]) if section else None

    def is_code(self, address):
        section = self.section(address)
        return section is not None and section[0] != ".rodata"

    def entry(self, address):
        """what the loader puts there, which nothing writes later"""
        if any(a <= address < b for a, b in self.table_sections) and self.relro[0] <= address < self.relro[1]:
            return self.table.get(address)
        return None

    def text(self, address):
        """the string there"""
        name, start, content = self.section(address) or (None, 0, b"")
        return bytes(content[address - start:]).split(b"\0")[0].decode() if name == ".rodata" else None

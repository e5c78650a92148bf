/* eacsl_main: the main that E-ACSL sees: it sets up the memory model there. */
int eacsl_replay(int argc, char **argv);

int main(int argc, char **argv)
{
    return eacsl_replay(argc, argv);
}

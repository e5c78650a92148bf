/* eacsl_main: the main function that E-ACSL sees, and where it sets up the memory model. */
int eacsl_replay(int argc, char **argv);

int main(int argc, char **argv)
{
    return eacsl_replay(argc, argv);
}

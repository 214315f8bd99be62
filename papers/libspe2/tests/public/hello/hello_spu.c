/* Old C: no type for a function, and a function that is not declared. */
#include <stdio.h>
#include <string.h>

static seven()
{
	return strlen(getenv("NO_SUCH_VARIABLE") ? "" : "1234567");
}

int main(unsigned long long speid, unsigned long long argp, unsigned long long envp)
{
	char words[64];
	sprintf(words, "Hello from an SPE, argument %llu", argp);
	return argp > 0 && strncmp(words, "Hello from an SPE, ", 19) == 0 && envp == 0 && speid != 0 ? seven() : 0;
}

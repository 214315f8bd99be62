/* What PPE programs read of their processor, by every way that they have. */
#include <fcntl.h>
#include <fstream>
#include <libspe2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int failed;
#define CHECK(condition) failed |= !(condition) && printf("%d: not so: %s\n", __LINE__, #condition)

/* Both halves of the time base, until the upper one stays. */
static unsigned long long time_base()
{
    unsigned int upper, lower, again;
    __asm__ volatile("1:\n\tmftbu %0\n\tmftb %1\n\tmftbu %2\n\tcmpw %2, %0\n\tbne 1b"
                     : "=r"(upper), "=r"(lower), "=r"(again));
    return (unsigned long long)upper << 32 | lower;
}

static unsigned long long time_base_of_one_line()
{
    unsigned long upper, lower, again;
    asm volatile("0: mftbu %0; mftb %1; mftbu %2; cmpw cr0,%0,%2; bne- 0b"
                 : "=r"(upper), "=r"(lower), "=r"(again) : : "memory", "cr0");
    return (unsigned long long)upper << 32 | lower;
}

int main()
{
    char line[200] = "";
    int frequency = 0, processors = 0;
    std::ifstream stream("/proc/cpuinfo");
    while (stream.getline(line, sizeof line) && sscanf(line, "timebase : %d", &frequency) != 1)
        processors += strncmp(line, "processor", 9) == 0;
    CHECK(frequency == 79800000 && processors == 2);
    FILE *command = popen("grep timebase /proc/cpuinfo | cut -d: -f2", "r");
    CHECK(fgets(line, sizeof line, command) && atoi(line) == 79800000);
    pclose(command);
    FILE *file = fopen("/proc/cpuinfo", "r");
    CHECK(file && fread(line, 1, 9, file) == 9 && memcmp(line, "processor", 9) == 0);
    fclose(file);
    int opened = open("/proc/cpuinfo", O_RDONLY);
    CHECK(read(opened, line, sizeof line) > 100 && strstr(line, "Cell"));
    close(opened);
    CHECK(system("grep -q Cell /proc/cpuinfo") == 0 && open("/proc/self/none", O_RDONLY) == -1);
    unsigned long long first = time_base(), second = time_base_of_one_line(), third = time_base();
    CHECK(first <= second && second <= third && third > 0);
    return failed;
}

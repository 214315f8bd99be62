// Objects of the whole program and of a function, and vectors of both kinds in one program.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <spu_intrinsics.h>
#include <string>
#include <vector>

struct Noisy {
    int number;
    explicit Noisy(int number) : number(number)
    {
        printf("made %d\n", number);
    }
    ~Noisy()
    {
        printf("gone %d\n", number);
    }
};

static Noisy first(1);
static Noisy second(2);
static vector float factors = {1.5f, 1.5f, 1.5f, 1.5f};

static void __attribute__((destructor)) last()
{
    printf("last\n");
}

template <class V> static V twice(V value)
{
    return spu_add(value, value);
}

int main(unsigned long long, unsigned long long, unsigned long long)
{
    static Noisy third(3);
    std::vector<int> numbers;
    for (int at = 0; at < 4; at++)
        numbers.push_back(4 - at);
    std::sort(numbers.begin(), numbers.end());
    vector unsigned int ones = spu_splats(1u);
    const vector float *factor = (const vector float *)&factors;
    std::string words = "vector float: ";
    words += std::string(1, (char)('0' + (int)numbers.size())) + " numbers, a text too long to lie in the string itself";
    words.resize(words.find(" numbers, ") + 10);
    printf("%s%g %u\n", words.c_str(), (double)spu_extract(*factor, numbers[0]), spu_extract(twice(ones), 3));
    return 0;
}

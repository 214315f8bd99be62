/* 'vector' as a keyword, as a variable, as a member and in a text; the specific intrinsics without their header. */
#include <stdbool.h>
#include <spu_intrinsics.h>
#include <spu_mfcio.h>
#include <stdio.h>
#include <string.h>

typedef struct {
	float vector[4];
	int n;
} body_t __attribute__((aligned(16)));

static const char *text = "a vector float, \"vector int\"";

static int use(vector unsigned int v, float vector)
{
	return spu_extract(v, 0) + (int)vector;
}

int main(unsigned long long id, unsigned long long argp, unsigned long long envp)
{
	vec_int4 vector = {1, 2, 3, 4};
	body_t b = {{1, 2, 3, 4}, 5};
	vector bool int mask = spu_cmpgt(vector, 2);
	vector float *p = (vector float *)b.vector;
	vector signed short s = spu_splats((short)3);
	(void)id, (void)argp, (void)envp;
	*p = spu_madd(*p, ((vector float){2, 2, 2, 2}), spu_splats(1.0f));
	vector = (vec_int4)si_rotqmbii((qword)vector, -4);
	vector = spu_sel(vector, spu_insert(7, vector, 2), mask);
	return (int)b.vector[3] + use(spu_splats(4u), 2.0f) + spu_extract(vector, 2) + s[1]
	       - (strlen(text) != 28 || strcmp(text + 17, "vector int\"") != 0 ? 100 : 0);
}

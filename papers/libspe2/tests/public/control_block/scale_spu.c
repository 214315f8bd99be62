#include <spu_intrinsics.h>
#include <spu_mfcio.h>
#include "control_block.h"

#define N 1024
#define wait_on_mask(mask) do { mfc_write_tag_mask(mask); mfc_read_tag_status_all(); } while (0)

control_block cb __attribute__((aligned(128)));
float in[2][N] __attribute__((aligned(128)));
float out[2][N] __attribute__((aligned(128)));
unsigned int word[4] __attribute__((aligned(16)));

inline void scale(float *to, float *from, float factor)
{
	int i;
	vector float vector = spu_splats(factor), *v = (vector float *)from, *w = (vector float *)to;
	for (i = 0; i < N / 4; i++)
		w[i] = spu_madd(v[i], vector, ((vector float){1.0f, 1.0f, 1.0f, 1.0f}));
}

int main(unsigned long long id, unsigned long long argp)
{
	int i, this = 0, next;
	element e = {{1, 2, 3, 4}, 5};

	spu_mfcdma32(&cb, (unsigned int)argp, sizeof(cb), 20, MFC_GET_CMD);
	wait_on_mask(1 << 20);
	spu_mfcdma32(in[0], cb.in, sizeof(in[0]), 0, MFC_GET_CMD);
	for (i = 0; i < cb.count / N; i++) {
		next = this ^ 1;
		if (i + 1 < cb.count / N)
			spu_mfcdma32(in[next], cb.in + (i + 1) * sizeof(in[0]), sizeof(in[0]), next, MFC_GETB_CMD);
		wait_on_mask(1 << this);
		scale(out[this], in[this], cb.factor);
		spu_mfcdma32(out[this], cb.out + i * sizeof(in[0]), sizeof(in[0]), this, MFC_PUT_CMD);
		this = next;
	}
	wait_on_mask(3);
	word[0] = cb.count + (e.n - 5) + counter;
	spu_mfcdma64(word, mfc_ea2h(argp), cb.status, 16, 4, MFC_PUTF_CMD);
	mfc_write_tag_mask(1 << 4);
	spu_mfcstat(MFC_TAG_UPDATE_ALL);
	return 0;
}

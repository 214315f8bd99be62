#ifndef MANAGER_H
#define MANAGER_H

#include <cstdio>
#include <cstdlib>
#include <libspe2.h>
#include <pthread.h>
#include <string>
#include <vector>

/* Runs one program on several SPEs. */
class spe_manager
{
	struct data {
		spe_context_ptr_t spe;
		pthread_t thread;
		void *argp;
		unsigned long envp;
	};
	std::vector<data> workers;
	spe_program_handle_t *image;

	static void *run(void *arg)
	{
		data *worker = (data *)arg;
		unsigned int entry = SPE_DEFAULT_ENTRY;
		if (spe_context_run(worker->spe, &entry, 0, worker->argp, (void *)worker->envp, NULL) < 0) {
			perror("spe_context_run");
			exit(1);
		}
		pthread_exit(NULL);
	}

public:
	explicit spe_manager(const std::string &file) : image(spe_image_open(file.c_str()))
	{
		if (image == NULL) {
			perror(file.c_str());
			exit(1);
		}
	}

	~spe_manager()
	{
		spe_image_close(image);
	}

	template <class T> void start(std::vector<T> &arguments)
	{
		workers.resize(arguments.size());
		for (size_t i = 0; i < workers.size(); ++i) {
			workers[i].spe = spe_context_create(0, NULL);
			workers[i].argp = &arguments[i];
			workers[i].envp = sizeof(T);
			spe_program_load(workers[i].spe, image);
			pthread_create(&workers[i].thread, NULL, run, &workers[i]);
		}
	}

	void tell(unsigned int word)
	{
		for (size_t i = 0; i < workers.size(); ++i)
			spe_in_mbox_write(workers[i].spe, &word, 1, SPE_MBOX_ANY_NONBLOCKING);
	}

	void join()
	{
		for (size_t i = 0; i < workers.size(); ++i) {
			pthread_join(workers[i].thread, NULL);
			spe_context_destroy(workers[i].spe);
		}
	}
};

#endif

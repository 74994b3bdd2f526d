/* process.c - see process.h. */
#include "common/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool process_has_variable(pid_t pid, const char *name, const char *value)
{
	char path[40], *variable = NULL;
	size_t size = 0, length = strlen(name);
	FILE *environment;
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	environment = fopen(path, "re");
	while (environment && !found && getdelim(&variable, &size, '\0', environment) > 0)
		found = !strncmp(variable, name, length) && variable[length] == '=' &&
			!strcmp(variable + length + 1, value);
	if (environment)
		fclose(environment);
	free(variable);
	return found;
}

/* The two cases of a block where recording is switched at run time: recorded, or only counted. */
#ifndef PRESTORE_CASES_H
#define PRESTORE_CASES_H

void cases_init(void);
void cases_exit(void);

#endif

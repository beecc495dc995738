/* When the blocks of a process that is recorded whole get their second case (forms.h). Each process by
 * itself: what short ones cost is mostly the translation of their code, which two cases make dearer,
 * and what is recorded of one does not depend on others. */
#ifndef PRESTORE_SECOND_CASE_H
#define PRESTORE_SECOND_CASE_H

/* Called from a block in which the thread's buffer was handed over: is it time? */
void second_case_look(void *drcontext);

#endif

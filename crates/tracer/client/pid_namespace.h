/* Children in another process namespace than their parent's. */
#ifndef PRESTORE_PID_NAMESPACE_H
#define PRESTORE_PID_NAMESPACE_H

void pid_namespace_init(void);

#endif

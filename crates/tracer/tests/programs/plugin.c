/* Loaded and unloaded by loader.c. */
int plugin_counter;

int plugin_add(int n)
{
    for (int i = 0; i < n; i++)
        plugin_counter += i;
    return plugin_counter;
}

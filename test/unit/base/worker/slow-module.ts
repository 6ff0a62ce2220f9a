import { setImmediate } from 'node:timers/promises'

/* Module that others wait for while it loads, as for the provider of signatures. */
await setImmediate()
export const isLoaded = true

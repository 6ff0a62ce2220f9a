import { setFlagsFromString } from 'node:v8'

/**
 * Makes V8 use `maxYoungGenerationSizeMb` of worker threads that start from now on. While `--max-semi-space-size` is set, as for the
 * main thread (bin/tandem.mjs), V8 prefers it to the limits of every worker. The main thread has read it when its heap was made.
 */
export const useNurseryLimits = (): void => setFlagsFromString('--max-semi-space-size=0')

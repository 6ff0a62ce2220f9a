/*
 * Threads of this process whose scripts load. V8 ends the process by a signal when a thread is terminated while modules run that waited
 * for another one (nodejs/node#62114), as all do that import the provider of signatures; and the end of a process terminates its threads.
 */

/** Patience with a script that loads. */
export const LOAD_MS = 15_000
const LOOK_MS = 5

const threads = new Set<() => boolean>()

/** Adds a thread, by whether its script has loaded or its thread ended; returns a function that removes it. */
export const addLoadingThread = (isLoaded: () => boolean): (() => void) => {
  threads.add(isLoaded)
  return () => threads.delete(isLoaded)
}

/** Resolves when no script loads, or after a while. To be awaited before the process ends itself. */
export const threadsLoaded = async (): Promise<void> => {
  const endMs = performance.now() + LOAD_MS
  while (performance.now() < endMs && [...threads].some(isLoaded => !isLoaded()))
    await new Promise(resolve => setTimeout(resolve, LOOK_MS))
}

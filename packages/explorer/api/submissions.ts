/** Header by which the node's port names the client to the thread that answers; it passes none of this name on. */
export const CLIENT_HEADER = 'x-explorer-client'

/** Paths that take a body: those of modules, and those to which source code is submitted. */
export const isSubmission = (path: string): boolean =>
  path === '/api' || path.startsWith('/api/contracts/') || path.startsWith('/api/v2/verify/')

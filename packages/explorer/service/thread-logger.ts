import type { MessagePort } from 'node:worker_threads'
import type { Logger } from '@tandem/base/logger.ts'
import type { FromExplorerThread } from './protocol.ts'

/** Logger of a thread; the lines are written by the main one. */
export const threadLogger = (port: MessagePort): Logger => {
  const log =
    (level: 'error' | 'warn' | 'info' | 'debug') =>
    (fields: object, message: string): void =>
      port.postMessage({ type: 'log', level, fields, message } satisfies FromExplorerThread)
  const logger: Logger = {
    error: log('error'),
    warn: log('warn'),
    info: log('info'),
    debug: log('debug'),
    child: () => logger,
  }
  return logger
}

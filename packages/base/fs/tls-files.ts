import { unwatchFile, watchFile } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Server } from 'node:https'
import { createSecureContext } from 'node:tls'
import type { Logger } from '../logger.ts'

/** Certificate chain and private key of the public port, PEM. */
export interface TlsFiles {
  readonly certFile: string
  readonly keyFile: string
}

interface TlsContent {
  readonly cert: string
  readonly key: string
}

const POLL_MS = 2_000

/** Reads both files. Throws the error of a file that cannot be read, or of a key that does not belong to the certificate. */
export const readTls = async ({ certFile, keyFile }: TlsFiles): Promise<TlsContent> => {
  const [cert, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')])
  createSecureContext({ cert, key })
  return { cert, key }
}

/** Uses renewed files for new connections, as soon as both belong together. Returns the function that ends the watch. */
export const watchTls = (server: Pick<Server, 'setSecureContext'>, files: TlsFiles, logger: Logger): (() => void) => {
  const reload = (): void => {
    readTls(files).then(
      content => {
        server.setSecureContext(content)
        logger.info({ file: files.certFile }, 'TLS certificate reloaded')
      },
      (error: Error) =>
        logger.warn(
          { file: files.certFile, reason: error.message },
          'TLS certificate not reloaded: the one before is kept',
        ),
    )
  }
  const names = [files.certFile, files.keyFile]
  for (const name of names) watchFile(name, { interval: POLL_MS, persistent: false }, reload)
  return () => {
    for (const name of names) unwatchFile(name, reload)
  }
}

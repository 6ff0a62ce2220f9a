import { readFileSync } from 'node:fs'
import { getRawAsset, isSea } from 'node:sea'
import { fileURLToPath } from 'node:url'
import { Worker, type WorkerOptions } from 'node:worker_threads'

/*
 * Files of the program itself, by the URL that source gives them. In an executable of one file (scripts/build-executable.ts) they are its assets, and the
 * URL is the name of the asset below the root.
 */

/** First file of a built command (src/cli/boot.ts), which loads others by their names. */
const BOOT = 'tandem.cjs'

const nameOf = (url: URL): string => url.pathname.slice(1)
const readAsset = (name: string): Buffer => Buffer.from(getRawAsset(name))

/** Content of a file, not to be written to. */
export const readOwnFile = (url: URL): Buffer => (isSea() ? readAsset(nameOf(url)) : readFileSync(url))

/** Starts a thread from its entry. Loaders of the process, such as those of a test runner, and `--input-type`, are not for it. */
export const startThread = (url: URL, options: WorkerOptions): Worker =>
  isSea()
    ? new Worker(readAsset(BOOT).toString('latin1'), { ...options, execArgv: [], eval: true, argv: [nameOf(url)] })
    : new Worker(url, { ...options, execArgv: [] })

/** Program and arguments that start a process of this program from its entry. An executable has its flags in itself. */
export const ownCommand = (url: URL, flags: readonly string[] = []): [program: string, ...args: string[]] =>
  isSea() ? [process.execPath, nameOf(url)] : [process.execPath, ...flags, fileURLToPath(url)]

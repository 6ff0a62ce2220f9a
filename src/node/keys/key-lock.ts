import { connect, createServer, type Server } from 'node:net'
import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'

/** Another process of this machine signs with the key on the same chain, with the details it reports. */
interface KeyInUse {
  readonly code: 'KEY_IN_USE'
  readonly address: Hex
  readonly pid?: number
  readonly dataDir?: string
}

export interface KeyUse {
  /** Address of the validator. */
  readonly address: Hex
  readonly genesisHash: Hex
  readonly dataDir: string
}

/** The system refuses the socket name. */
interface KeyLockFailed {
  readonly code: 'KEY_LOCK_FAILED'
  readonly reason: string
}

/** Limits of the holder's response: bytes, milliseconds, and concurrent queries. */
const ANSWER_BYTES = 8_192
const ANSWER_MS = 500
const ASKERS = 8

/**
 * Holds a validator's key for this process until the returned function is called: two processes that sign with one key on one
 * chain contradict each other. The lock is a listening socket in the kernel's own namespace (Linux: abstract; Windows: a named
 * pipe), so that it ends with its process in any case and leaves no file behind. Other systems have no such names: there only
 * the lock of the data folder protects. Throws CodedError<KeyInUse | KeyLockFailed>.
 */
export const lockKey = async (use: KeyUse): Promise<() => Promise<void>> => {
  const name = socketName(use)
  if (name === undefined) return async () => {}
  const server = (await listen(name, use)) ?? (await inUse(name, use)) ?? (await listen(name, use))
  if (server === undefined) throw new CodedError<KeyInUse>({ code: 'KEY_IN_USE', address: use.address })
  return () => new Promise(resolve => server.close(() => resolve()))
}

/** A key may serve several chains at once: their genesis hash is part of everything it signs. */
const socketName = ({ address, genesisHash }: KeyUse): string | undefined => {
  const name = `tandem-key-${address}-${genesisHash.slice(2, 18)}`
  if (process.platform === 'linux') return `\0${name}`
  return process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : undefined
}

/** Returns undefined when another process listens there. */
const listen = (name: string, { dataDir }: KeyUse): Promise<Server | undefined> =>
  new Promise((resolve, reject) => {
    const server = createServer(socket => {
      socket.on('error', () => socket.destroy())
      socket.end(JSON.stringify({ pid: process.pid, dataDir }), () => socket.destroy())
    })
    server.maxConnections = ASKERS
    // Later errors come from single connections and are ignored.
    server.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE'
        ? resolve(undefined)
        : reject(new CodedError<KeyLockFailed>({ code: 'KEY_LOCK_FAILED', reason: error.message }, { cause: error })),
    )
    server.listen({ path: name }, () => {
      // The lock must not keep the process running.
      server.unref()
      resolve(server)
    })
  })

/** Throws with the holder's details; undefined when it has just ended. */
const inUse = async (name: string, { address }: KeyUse): Promise<undefined> => {
  const answer = await ask(name)
  if (answer === 'gone') return undefined
  throw new CodedError<KeyInUse>({ code: 'KEY_IN_USE', address, ...holderOf(answer) })
}

const ask = (name: string): Promise<string> =>
  new Promise(resolve => {
    let text = ''
    const socket = connect({ path: name })
    const end = (answer: string) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(answer)
    }
    const timer = setTimeout(() => end(text), ANSWER_MS)
    socket.setEncoding('utf8')
    socket.on('data', chunk => {
      text += chunk
      if (text.length > ANSWER_BYTES) end('')
    })
    socket.once('end', () => end(text))
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code === 'ECONNREFUSED' ? 'gone' : text))
  })

/** Any process on the machine may have taken the name, so the response is validated. */
const holderOf = (answer: string): Pick<KeyInUse, 'pid' | 'dataDir'> => {
  try {
    const { pid, dataDir } = JSON.parse(answer) as Record<string, unknown>
    return {
      ...(Number.isSafeInteger(pid) && { pid: pid as number }),
      ...(typeof dataDir === 'string' && !/\p{C}/u.test(dataDir) && { dataDir }),
    }
  } catch {
    return {}
  }
}

import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { asBuffer, hexToBytes } from '../util/bytes.ts'
import { CodedError, isCoded } from '../util/errors.ts'
import { writeNewFile } from '../util/new-file.ts'

export type NodeKeyError = { readonly code: 'NODE_KEY_INVALID'; readonly path: string }

/**
 * The 32 bytes by which other nodes know this one, apart from any validator's key. They are made at first need and kept in the
 * data folder as plain hex for their owner alone: a node must start without anybody at hand, and whoever has them can only pass
 * for this node as a peer. Throws CodedError<NodeKeyError> for a file that holds something else.
 */
export const loadNodeKey = async (dataDir: string): Promise<Uint8Array> => {
  const path = join(dataDir, 'node-key')
  const stored = await readKey(path)
  if (stored !== undefined) return stored
  const key = new Uint8Array(randomBytes(32))
  try {
    await writeNewFile(path, `${asBuffer(key).toString('hex')}\n`)
    return key
  } catch (error) {
    // Another process of the same folder was first.
    const theirs = isCoded(error) && error.code === 'FILE_EXISTS' ? await readKey(path) : undefined
    if (theirs === undefined) throw error
    return theirs
  }
}

const readKey = async (path: string): Promise<Uint8Array | undefined> => {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return undefined
  const digits = text.trim()
  if (!/^[0-9a-f]{64}$/.test(digits)) throw new CodedError<NodeKeyError>({ code: 'NODE_KEY_INVALID', path })
  return hexToBytes(`0x${digits}`)
}

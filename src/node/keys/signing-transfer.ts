import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { rewindCount } from '../../chain/dev/rewind.ts'
import {
  comparePositions,
  type LastSignature,
  openWatermark,
  type Watermark,
} from '../../consensus/signer/watermark.ts'
import { nodeFileSystem } from '../../consensus/wal/file-system.ts'
import { recoverAddress } from '../../crypto/signature.ts'
import type { SignedPosition, SignerRecord, SigningRecord } from '../../primitives/consensus/signing-record.ts'
import { readIdentity } from '../../storage/schema.ts'
import { Store } from '../../storage/store.ts'
import { bytesToHex, type Hex, hexToBytes, ZERO_ADDRESS } from '../../util/bytes.ts'
import { CodedError } from '../../util/errors.ts'
import { consensusFolder, watermarkOwner, watermarkPath } from '../parts/consensus-folder.ts'
import { lockKey } from './key-lock.ts'

/** Carries what validators signed in or out of a data folder whose node is stopped. */
export type SigningTransferError =
  /** The folder holds no chain, so it does not say which one it is for. */
  | { readonly code: 'CHAIN_UNKNOWN'; readonly dataDir: string }
  | { readonly code: 'SIGNING_RECORD_FOREIGN'; readonly found: Hex; readonly expected: Hex }
  /** The watermark of the folder is damaged: what it held is not known, so nothing may take its place. */
  | { readonly code: 'WATERMARK_DAMAGED'; readonly path: string }
  /** The signature beside a position is not that validator's: the file is damaged, or made up. */
  | { readonly code: 'SIGNATURE_FOREIGN'; readonly validator: Hex; readonly number: number }

export interface SigningExport {
  readonly dataDir: string
  /** Only this validator's; all of the folder otherwise. */
  readonly validator?: Hex
}

/** Throws CodedError<SigningTransferError>, STORE_LOCKED or KEY_IN_USE while a node runs there, and what the store throws. */
export const exportSigning = ({ dataDir, validator }: SigningExport): Promise<SigningRecord> =>
  withFolder(dataDir, false, async ({ folder, genesisHash: own }) => {
    const genesisHash = own ?? fail({ code: 'CHAIN_UNKNOWN', dataDir })
    const names = await readdir(folder).catch(emptyWhenMissing)
    const owners = names.map(watermarkOwner).filter(isValidator)
    const signers: SignerRecord[] = []
    for (const address of owners.sort()) {
      if (validator !== undefined && address !== validator) continue
      const use = { folder, address, genesisHash, dataDir }
      const last = await withWatermark(use, async watermark => watermark.last)
      signers.push({ validator: address, signed: last === null ? [] : [positionOf(last)] })
    }
    return { genesisHash, signers }
  })

export interface SigningImport {
  readonly dataDir: string
  readonly record: SigningRecord
  /** Of the chain that the folder is for, where it holds none yet. */
  readonly genesisHash?: Hex
}

export interface ImportedSigner {
  readonly validator: Hex
  /** Where the watermark stands now; null when neither side has signed. */
  readonly last: LastSignature | null
  readonly raised: boolean
}

/**
 * Raises watermarks to the highest positions of a record, never lowers one, and resolves when that is on the disk. A position whose
 * signature the record leaves out is never signed again, not even the same. Throws as exportSigning does.
 */
export const importSigning = ({ dataDir, record, genesisHash }: SigningImport): Promise<readonly ImportedSigner[]> =>
  withFolder(dataDir, true, async ({ folder, genesisHash: own }) => {
    const expected = own ?? genesisHash ?? fail({ code: 'CHAIN_UNKNOWN', dataDir })
    for (const hash of [record.genesisHash, genesisHash ?? expected])
      if (hash !== expected) fail({ code: 'SIGNING_RECORD_FOREIGN', found: hash, expected })
    // All of it is looked at before any of it counts.
    const marks = record.signers.map(signer => ({ address: signer.validator, highest: highestOf(signer) }))
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const imported: ImportedSigner[] = []
    for (const { address, highest } of marks) {
      const use = { folder, address, genesisHash: expected, dataDir }
      const raised = await withWatermark(use, watermark => raise(watermark, highest))
      imported.push({ validator: address, ...raised })
    }
    return imported
  })

const raise = async (
  watermark: Watermark,
  highest: LastSignature | null,
): Promise<Omit<ImportedSigner, 'validator'>> => {
  const { last } = watermark
  const raised = highest !== null && (last === null || comparePositions(highest, last) > 0)
  if (!raised) return { last, raised }
  watermark.advance(highest)
  await watermark.take()()
  return { last: highest, raised }
}

const highestOf = ({ validator, signed }: SignerRecord): LastSignature | null =>
  signed
    .map(position => markOf(validator, position))
    .reduce<LastSignature | null>(
      (highest, mark) => (highest === null || comparePositions(mark, highest) > 0 ? mark : highest),
      null,
    )

const markOf = (validator: Hex, { number, round, step, digest, signature }: SignedPosition): LastSignature => {
  // Equal to no digest there is, so that nothing at this position is taken for what was signed.
  if (signature === null) {
    return { number, round, step, digest: new Uint8Array(32), signature: new Uint8Array(65) }
  }
  const mark = { number, round, step, digest: hexToBytes(digest), signature: hexToBytes(signature) }
  if (recoverAddress(mark.digest, mark.signature) !== validator)
    return fail({ code: 'SIGNATURE_FOREIGN', validator, number })
  return mark
}

const positionOf = ({ number, round, step, digest, signature }: LastSignature): SignedPosition => ({
  number,
  round,
  step,
  digest: bytesToHex(digest),
  signature: signature.every(byte => byte === 0) ? null : bytesToHex(signature),
})

interface StoppedFolder {
  readonly folder: string
  /** Of the chain stored there. */
  readonly genesisHash: Hex | undefined
}

/** With the data folder held, so that no node can start there meanwhile. */
const withFolder = async <T>(
  dataDir: string,
  create: boolean,
  work: (folder: StoppedFolder) => Promise<T>,
): Promise<T> => {
  if (create) await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const store = await Store.open(join(dataDir, 'db'), { createIfMissing: create })
  try {
    const identity = await readIdentity(store)
    const rewinds = identity === undefined ? 0 : await rewindCount(store)
    return await work({ folder: consensusFolder(dataDir, rewinds), genesisHash: identity?.genesis })
  } finally {
    await store.close()
  }
}

interface WatermarkUse {
  readonly folder: string
  readonly address: Hex
  readonly genesisHash: Hex
  readonly dataDir: string
}

/** With the key held: a node of another folder may sign with it. */
const withWatermark = async <T>(
  { folder, ...use }: WatermarkUse,
  work: (watermark: Watermark) => Promise<T>,
): Promise<T> => {
  const release = await lockKey(use)
  const path = watermarkPath(folder, use.address)
  try {
    const watermark = await openWatermark(nodeFileSystem, path)
    if (watermark.condition === 'corrupt') fail({ code: 'WATERMARK_DAMAGED', path })
    return await work(watermark).finally(() => watermark.close())
  } finally {
    await release()
  }
}

/** Who only follows has a file of its own, which stays empty. */
const isValidator = (owner: Hex | undefined): owner is Hex => owner !== undefined && owner !== ZERO_ADDRESS

const emptyWhenMissing = (error: NodeJS.ErrnoException): readonly string[] => {
  if (error.code === 'ENOENT') return []
  throw error
}

const fail = (detail: SigningTransferError): never => {
  throw new CodedError(detail)
}

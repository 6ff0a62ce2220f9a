import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { bytesToHex, type Hex, hexToBytes, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { ifMissing } from '@tandem/base/fs/if-missing.ts'
import { makeFolder } from '@tandem/base/fs/make-folder.ts'
import { rewindCount } from '../../chain/dev/rewind.ts'
import { nodeFileSystem } from '../../consensus/wal/file-system.ts'
import { comparePositions, type LastSignature, openWatermark, type Watermark } from '../../consensus/wal/watermark.ts'
import { recoverAddress } from '../../crypto/signature.ts'
import type { SignedPosition, SignerRecord, SigningRecord } from '../../primitives/consensus/signing-record.ts'
import { readIdentity } from '../../storage/schema.ts'
import { Store } from '../../storage/store.ts'
import { consensusFolder, watermarkOwner, watermarkPath } from '../parts/consensus/consensus-folder.ts'
import { type KeyUse, lockKey } from './key-lock.ts'

/** Exports or imports the signing records of validators from or into a data folder whose node is stopped. */
type SigningTransferError =
  /** The folder contains no chain, so the chain of its records is unknown. */
  | { readonly code: 'CHAIN_UNKNOWN'; readonly dataDir: string }
  | { readonly code: 'SIGNING_RECORD_FOREIGN'; readonly found: Hex; readonly expected: Hex }
  /** The watermark in the folder is damaged: its content is unknown, so it must not be replaced. */
  | { readonly code: 'WATERMARK_DAMAGED'; readonly path: string }
  /** The signature at a position is not of that validator: the file is damaged or forged. */
  | { readonly code: 'SIGNATURE_FOREIGN'; readonly validator: Hex; readonly number: number }

interface SigningExport {
  readonly dataDir: string
  /** Only this validator's records; by default all of the folder. */
  readonly validator?: Hex
}

/** Throws CodedError<SigningTransferError>, STORE_LOCKED or KEY_IN_USE while a node runs there, and the errors of the store. */
export const exportSigning = ({ dataDir, validator }: SigningExport): Promise<SigningRecord> =>
  withFolder(dataDir, false, async ({ folder, genesisHash: own }) => {
    const genesisHash = own ?? fail({ code: 'CHAIN_UNKNOWN', dataDir })
    const names = await readdir(folder).catch(ifMissing([]))
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

interface SigningImport {
  readonly dataDir: string
  readonly record: SigningRecord
  /** Chain of the folder, where it contains none yet. */
  readonly genesisHash?: Hex
}

interface ImportedSigner {
  readonly validator: Hex
  /** Position of the watermark now; null when neither side has signed. */
  readonly last: LastSignature | null
  readonly raised: boolean
}

/** Raises watermarks to a record's positions, on disk, never lowers one. One without signature is never signed again. Throws as exportSigning. */
export const importSigning = ({ dataDir, record, genesisHash }: SigningImport): Promise<readonly ImportedSigner[]> =>
  withFolder(dataDir, true, async ({ folder, genesisHash: own }) => {
    const expected = own ?? genesisHash ?? fail({ code: 'CHAIN_UNKNOWN', dataDir })
    for (const hash of [record.genesisHash, genesisHash ?? expected])
      if (hash !== expected) fail({ code: 'SIGNING_RECORD_FOREIGN', found: hash, expected })
    // The whole record is validated before any of it is applied.
    const marks = record.signers.map(signer => ({ address: signer.validator, highest: highestOf(signer) }))
    makeFolder(folder)
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
  // Equals no digest, so that no content at this position counts as already signed.
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
  /** Genesis hash of the stored chain. */
  readonly genesisHash: Hex | undefined
}

/** Runs with the data folder locked, so that no node can start there meanwhile. */
const withFolder = async <T>(
  dataDir: string,
  create: boolean,
  work: (folder: StoppedFolder) => Promise<T>,
): Promise<T> => {
  if (create) makeFolder(dataDir)
  const store = await Store.open(join(dataDir, 'db'), { createIfMissing: create })
  try {
    const identity = await readIdentity(store)
    const rewinds = identity === undefined ? 0 : await rewindCount(store)
    return await work({ folder: consensusFolder(dataDir, rewinds), genesisHash: identity?.genesis })
  } finally {
    await store.close()
  }
}

/** Runs with the key locked: a node of another folder may sign with it. */
const withWatermark = async <T>(
  { folder, ...use }: KeyUse & { readonly folder: string },
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

/** A follower has an empty watermark file under the zero address. */
const isValidator = (owner: Hex | undefined): owner is Hex => owner !== undefined && owner !== ZERO_ADDRESS

const fail = (detail: SigningTransferError): never => {
  throw new CodedError(detail)
}

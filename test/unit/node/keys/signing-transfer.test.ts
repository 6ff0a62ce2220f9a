import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { nodeFileSystem } from '../../../../src/consensus/wal/file-system.ts'
import { type LastSignature, openWatermark } from '../../../../src/consensus/wal/watermark.ts'
import { addressFromPrivateKey, sign } from '../../../../src/crypto/signature.ts'
import { genesisHashFromFile } from '../../../../src/node/genesis/genesis-hash.ts'
import { lockKey } from '../../../../src/node/keys/key-lock.ts'
import { exportSigning, importSigning } from '../../../../src/node/keys/signing-transfer.ts'
import { consensusFolder, watermarkPath } from '../../../../src/node/parts/consensus/consensus-folder.ts'
import { openChain } from '../../../../src/node/parts/open-chain.ts'
import type { SigningRecord } from '../../../../src/primitives/consensus/signing-record.ts'
import { keyOf, testGenesis } from '../../../support/chain.ts'

// A key of this process's own: its lock is the machine's.
const KEY = keyOf(process.pid % 199)
const VALIDATOR = addressFromPrivateKey(KEY)
const GENESIS = testGenesis()
const genesisHash = await genesisHashFromFile(GENESIS)

const mark = (number: number, step: LastSignature['step'] = 'commit', fill = number): LastSignature => {
  const digest = new Uint8Array(32).fill(fill)
  return { number, round: 0, step, digest, signature: sign(digest, KEY) }
}
const recordOf = (...marks: readonly LastSignature[]): SigningRecord => ({
  genesisHash,
  signers: [
    {
      validator: VALIDATOR,
      signed: marks.map(({ digest, signature, ...position }) => ({
        ...position,
        digest: bytesToHex(digest),
        signature: bytesToHex(signature),
      })),
    },
  ],
})

let dataDir: string
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'tandem-signing-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
})

const path = (): string => watermarkPath(consensusFolder(dataDir), VALIDATOR)
const signed = async (): Promise<LastSignature | null> => {
  const watermark = await openWatermark(nodeFileSystem, path())
  await watermark.close()
  return watermark.last
}
/** A folder whose node has run. */
const beginChain = async (): Promise<void> => {
  const options = { genesis: GENESIS, storePath: join(dataDir, 'db'), stateHistory: 1, logger: silentLogger }
  const { world, store } = await openChain({ ...options, onFailure: () => {} })
  await world.close()
  await store.close()
}
const detailOf = (work: Promise<unknown>): Promise<unknown> => work.then(() => 'done').catch(error => error.detail)

test('what one folder exports, another imports', async () => {
  await beginChain()
  await importSigning({ dataDir, record: recordOf(mark(7)) })
  const record = await exportSigning({ dataDir })
  expect(record).toEqual(recordOf(mark(7)))
  const other = mkdtempSync(join(tmpdir(), 'tandem-signing-'))
  onTestFinished(() => rmSync(other, { recursive: true, force: true }))
  expect(await importSigning({ dataDir: other, record, genesisHash })).toEqual([
    { validator: VALIDATOR, last: mark(7), raised: true },
  ])
  dataDir = other
  expect(await signed()).toEqual(mark(7))
})

describe('an import', () => {
  test('takes the highest position of all, wherever it stands', async () => {
    await importSigning({
      dataDir,
      record: recordOf(mark(3), mark(9, 'prepare'), mark(9, 'proposal'), mark(5)),
      genesisHash,
    })
    expect(await signed()).toEqual(mark(9, 'prepare'))
  })

  test('only ever raises', async () => {
    await importSigning({ dataDir, record: recordOf(mark(9)), genesisHash })
    for (const lower of [mark(8), mark(9, 'prepare'), mark(9, 'commit', 77)]) {
      const [result] = await importSigning({ dataDir, record: recordOf(lower), genesisHash })
      expect(result).toMatchObject({ raised: false, last: mark(9) })
      expect(await signed()).toEqual(mark(9))
    }
    const [result] = await importSigning({ dataDir, record: recordOf(mark(10, 'roundChange')), genesisHash })
    expect(result).toMatchObject({ raised: true })
    expect(await signed()).toEqual(mark(10, 'roundChange'))
  })

  test('of a position without its signature refuses even the same again, and is exported as such', async () => {
    await beginChain()
    const record = recordOf(mark(9))
    const bare = {
      ...record,
      signers: record.signers.map(s => ({ ...s, signed: s.signed.map(p => ({ ...p, signature: null })) })),
    }
    await importSigning({ dataDir, record: bare })
    const watermark = await openWatermark(nodeFileSystem, path())
    expect(() => watermark.check(mark(9), mark(9).digest)).toThrow('SIGNING_REFUSED')
    expect(watermark.check(mark(10), mark(10).digest)).toBeNull()
    await watermark.close()
    const [signer] = (await exportSigning({ dataDir })).signers
    expect(signer?.signed).toMatchObject([{ number: 9, step: 'commit', signature: null }])
  })

  test('of another chain is refused, whatever names the chain', async () => {
    const other: Hex = `0x${'ee'.repeat(32)}`
    const foreign = { ...recordOf(mark(9)), genesisHash: other }
    const refused = { code: 'SIGNING_RECORD_FOREIGN', found: other, expected: genesisHash }
    expect(await detailOf(importSigning({ dataDir, record: foreign, genesisHash }))).toEqual(refused)
    await beginChain()
    expect(await detailOf(importSigning({ dataDir, record: foreign }))).toEqual(refused)
    expect(await detailOf(importSigning({ dataDir, record: foreign, genesisHash: other }))).toEqual(refused)
    expect(await detailOf(importSigning({ dataDir, record: recordOf(mark(9)), genesisHash: other }))).toEqual(refused)
    expect(await signed()).toBeNull()
  })

  test('into an empty folder needs the genesis hash', async () => {
    expect(await detailOf(importSigning({ dataDir, record: recordOf(mark(9)) }))).toEqual({
      code: 'CHAIN_UNKNOWN',
      dataDir,
    })
  })

  test('with one signature of another key changes nothing at all', async () => {
    const forged = { ...mark(10), signature: sign(mark(10).digest, keyOf(200)) }
    const work = importSigning({ dataDir, record: recordOf(mark(9), forged), genesisHash })
    expect(await detailOf(work)).toEqual({ code: 'SIGNATURE_FOREIGN', validator: VALIDATOR, number: 10 })
    expect(await signed()).toBeNull()
  })

  test('leaves a damaged watermark alone, since its content is unknown', async () => {
    mkdirSync(consensusFolder(dataDir))
    writeFileSync(path(), new Uint8Array(8_192))
    const work = importSigning({ dataDir, record: recordOf(mark(9)), genesisHash })
    expect(await detailOf(work)).toEqual({ code: 'WATERMARK_DAMAGED', path: path() })
  })

  test('does not wait: while the key is in use it is refused', async () => {
    onTestFinished(await lockKey({ address: VALIDATOR, genesisHash, dataDir: '/elsewhere' }))
    const work = importSigning({ dataDir, record: recordOf(mark(9)), genesisHash })
    const expected = { code: 'KEY_IN_USE', address: VALIDATOR, pid: process.pid, dataDir: '/elsewhere' }
    if (process.platform === 'linux') expect(await detailOf(work)).toEqual(expected)
    else expect(await detailOf(work)).toBe('done')
  })
})

describe('an export', () => {
  test('of a folder where nothing was signed is empty, of no folder an error', async () => {
    await beginChain()
    expect(await exportSigning({ dataDir })).toEqual({ genesisHash, signers: [] })
    const missing = { dataDir: join(dataDir, 'none') }
    expect(await detailOf(exportSigning(missing))).toMatchObject({ code: 'STORE_OPEN_FAILED' })
  })

  test('of one validator leaves the others out', async () => {
    await beginChain()
    await importSigning({ dataDir, record: recordOf(mark(9)) })
    expect((await exportSigning({ dataDir, validator: VALIDATOR })).signers).toHaveLength(1)
    expect((await exportSigning({ dataDir, validator: addressFromPrivateKey(keyOf(200)) })).signers).toHaveLength(0)
  })
})

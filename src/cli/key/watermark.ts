import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import { writeNewFile } from '@tandem/base/fs/write-new-file.ts'
import { parseGenesis } from '../../config/genesis/genesis.ts'
import { KEY_LIMITS } from '../../config/limits/keys.ts'
import type { LastSignature } from '../../consensus/wal/watermark.ts'
import { checksumAddress } from '../../crypto/checksum.ts'
import { genesisHashFromFile } from '../../node/genesis/genesis-hash.ts'
import { exportSigning, importSigning } from '../../node/keys/signing-transfer.ts'
import { signingRecordFromJson, signingRecordToJson } from '../../primitives/consensus/signing-record.ts'
import { readBytes, readText } from '../shared/files.ts'

/** Parsed options of `tandem key watermark`. */
export interface WatermarkFlags {
  readonly datadir: string
  readonly validator?: Hex
  readonly genesis?: string
  readonly json: boolean
}

/** Runs `tandem key watermark export`. */
export const exportMark = async (file: string, { datadir, validator, json }: WatermarkFlags): Promise<void> => {
  const dataDir = resolve(datadir)
  if (!existsSync(join(dataDir, 'db'))) throw new Error(`${dataDir} holds no chain. Give the --datadir of a node.`)
  const record = await exportSigning({ dataDir, ...(validator && { validator }) })
  if (record.signers.length === 0) {
    const who = validator === undefined ? 'no validator' : validator
    throw new Error(`${dataDir} holds no watermark of ${who}: nothing was signed there.`)
  }
  await writeNewFile(file, signingRecordToJson(record))
  const signers = record.signers.map(({ validator, signed }) => ({ validator, last: signed[0] ?? null }))
  if (json) process.stdout.write(`${JSON.stringify({ file, genesisHash: record.genesisHash, signers })}\n`)
  else
    for (const { validator, last } of signers) process.stdout.write(`${checksumAddress(validator)}  ${placeOf(last)}\n`)
}

/** Runs `tandem key watermark import`. */
export const importMark = async (file: string, { datadir, genesis, json }: WatermarkFlags): Promise<void> => {
  const text = Buffer.from(readBytes(file, 'the signing record', KEY_LIMITS.recordBytes)).toString('utf8')
  const record = signingRecordFromJson(text)
  const genesisHash =
    genesis === undefined ? undefined : await genesisHashFromFile(parseGenesis(readText(genesis, '--genesis')))
  const signers = await importSigning({ dataDir: resolve(datadir), record, ...(genesisHash && { genesisHash }) })
  const results = signers.map(({ validator, last, raised }) => ({ validator, raised, last: last && plain(last) }))
  if (json) process.stdout.write(`${JSON.stringify({ genesisHash: record.genesisHash, signers: results })}\n`)
  else {
    for (const { validator, raised, last } of results)
      process.stdout.write(`${checksumAddress(validator)}  ${placeOf(last)}  ${raised ? 'raised' : 'as it was'}\n`)
  }
}

const plain = ({ number, round, step }: LastSignature) => ({ number, round, step })

const placeOf = (last: Pick<LastSignature, 'number' | 'round' | 'step'> | null): string =>
  last === null ? 'nothing signed' : `block ${last.number} round ${last.round} ${last.step}`

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type GethGenesis, parseGethGenesis } from '../../../devtools/recorded/geth-genesis.ts'

/* The chain of 54 blocks that the Ethereum clients' recorded answers are about (test/unit/primitives/fixtures/README.md). */

const pathOf = (name: string): string =>
  fileURLToPath(new URL(`../../unit/primitives/fixtures/${name}`, import.meta.url))

export const GENESIS_PATH = pathOf('genesis.json')
export const CHAIN_PATH = pathOf('chain.rlp')
export const HEAD_HASH = '0xd226371d0b1551adb03fb52b71f08e3e11247fe9b1af994768af8cdaa8e7dcd7'

export const recordedGenesis = (): GethGenesis => parseGethGenesis(readFileSync(GENESIS_PATH, 'utf8'))
export const recordedBytes = (): Uint8Array => new Uint8Array(readFileSync(CHAIN_PATH))

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bytesToHex, concatBytes, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { keccak256 } from '../../../src/crypto/hash.ts'
import type { Random } from '../../property/executor-plans.ts'
import { ROOT } from '../devnet.ts'
import { compileSoladyContracts } from './solady-contracts.ts'

/* Contracts in use elsewhere, as compiled by their authors: the council, OpenZeppelin's and Uniswap's; on request some on Solady. */

interface Parameter {
  readonly type: string
  readonly components?: readonly Parameter[]
}
interface Artifact {
  readonly abi: readonly { readonly type: string; readonly name?: string; readonly inputs?: readonly Parameter[] }[]
  readonly bytecode?: unknown
  /** Code of a contract that a genesis has. */
  readonly runtime?: string
  readonly deployedBytecode?: unknown
  readonly evm?: {
    readonly bytecode: { readonly object: string }
    readonly deployedBytecode: { readonly object: string }
  }
}

export interface RealContract {
  readonly name: string
  readonly runtime: Uint8Array
  /** Init code without arguments. */
  readonly init: Uint8Array
  readonly functions: readonly { readonly selector: Uint8Array; readonly words: number }[]
}

const OPENZEPPELIN = 'node_modules/@openzeppelin/contracts/build/contracts'
const FILES = [
  'contracts/Council.json',
  ...[
    'AccessManager',
    'ERC1967Proxy',
    'BeaconProxy',
    'TimelockController',
    'TransparentUpgradeableProxy',
    'ProxyAdmin',
    'UpgradeableBeacon',
    'VestingWallet',
    'ERC2771Forwarder',
  ].map(name => `${OPENZEPPELIN}/${name}.json`),
  'node_modules/@uniswap/v2-core/build/UniswapV2Pair.json',
  'node_modules/@uniswap/v2-core/build/UniswapV2Factory.json',
  'node_modules/@uniswap/v2-core/build/ERC20.json',
]

const bytesOf = (value: unknown): Uint8Array | undefined => {
  const text = typeof value === 'string' ? value.replace(/^0x/, '') : ''
  return text.length > 2 && /^([0-9a-f]{2})+$/i.test(text) ? hexToBytes(`0x${text}` as Hex) : undefined
}

const typeText = ({ type, components }: Parameter): string =>
  components === undefined ? type : `(${components.map(typeText).join()})${type.slice('tuple'.length)}`

const contractFrom = (name: string, artifact: Artifact): RealContract | undefined => {
  const runtime = bytesOf(artifact.deployedBytecode ?? artifact.evm?.deployedBytecode.object ?? artifact.runtime)
  const init =
    bytesOf(typeof artifact.bytecode === 'string' ? artifact.bytecode : artifact.evm?.bytecode.object) ?? runtime
  if (runtime === undefined || init === undefined) return undefined
  const functions = artifact.abi
    .filter(({ type }) => type === 'function')
    .map(({ name, inputs = [] }) => ({
      selector: keccak256(Buffer.from(`${name}(${inputs.map(typeText).join()})`)).subarray(0, 4),
      words: inputs.length,
    }))
  return { name, runtime, init, functions }
}

const readContracts = (): readonly RealContract[] =>
  FILES.map(file => join(ROOT, file))
    .filter(file => existsSync(file))
    .flatMap(file => contractFrom(file, JSON.parse(readFileSync(file, 'utf8')) as Artifact) ?? [])

const compileContracts = (): readonly RealContract[] =>
  compileSoladyContracts().flatMap(({ name, abi, runtime, bytecode }) => {
    const artifact = {
      abi: abi as Artifact['abi'],
      bytecode: bytesToHex(bytecode),
      deployedBytecode: bytesToHex(runtime),
    }
    return contractFrom(name, artifact) ?? []
  })

/** `compiled`: with those on Solady, which take seconds to compile. */
export const loadRealContracts = ({ compiled = false } = {}): readonly RealContract[] =>
  compiled ? [...readContracts(), ...compileContracts()] : readContracts()

/** Call of one of its functions with words that may fit: addresses of the world, offsets, small numbers. */
export const realCallData = ({ functions }: RealContract, random: Random, addresses: readonly Hex[]): Uint8Array => {
  const { pick, chance, int, word } = random
  if (functions.length === 0) return random.bytes(int(40))
  const { selector, words } = pick(functions)
  const argument = (): Uint8Array => {
    if (chance(2)) return hexToBytes(toWord(BigInt(pick(addresses))))
    if (chance(3)) return hexToBytes(toWord(BigInt(int(8) * 32)))
    return hexToBytes(toWord(word()))
  }
  const count = chance(6) ? int(8) : words + (chance(3) ? int(4) : 0)
  const data = concatBytes(selector, ...Array.from({ length: count }, argument))
  return chance(12) ? data.subarray(0, int(data.byteLength)) : data
}

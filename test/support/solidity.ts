import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { compileJson } from './solc-cache.ts'

export interface CompiledContract {
  readonly abi: readonly unknown[]
  /** Init code without constructor arguments. */
  readonly bytecode: Uint8Array
  /** Code as deployed (immutables unset). */
  readonly runtime: Uint8Array
}

export interface SolidityOptions {
  readonly optimizer?: boolean
  readonly evmVersion?: string
}

interface Output {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[]
  readonly contracts?: Record<
    string,
    Record<string, { abi: unknown[]; evm: { bytecode: { object: string }; deployedBytecode: { object: string } } }>
  >
}

/** Compiles one Solidity file, which may import from npm packages; answers its contracts by name. Throws with the compiler's words when it does not compile. */
export const compileSolidity = (
  source: string,
  { optimizer = true, evmVersion = 'cancun' }: SolidityOptions = {},
): Readonly<Record<string, CompiledContract>> => {
  const input = {
    language: 'Solidity',
    sources: { 'Test.sol': { content: source } },
    settings: {
      optimizer: { enabled: optimizer, runs: 200 },
      evmVersion,
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] } },
    },
  }
  const output = JSON.parse(compileJson(JSON.stringify(input))) as Output
  const failed = output.errors?.filter(error => error.severity === 'error') ?? []
  if (failed.length > 0) throw new Error(failed.map(error => error.formattedMessage).join('\n'))
  const contracts: Record<string, CompiledContract> = {}
  for (const [name, { abi, evm }] of Object.entries(output.contracts?.['Test.sol'] ?? {})) {
    const bytecode = hexToBytes(`0x${evm.bytecode.object}` as Hex)
    contracts[name] = { abi, bytecode, runtime: hexToBytes(`0x${evm.deployedBytecode.object}` as Hex) }
  }
  return contracts
}

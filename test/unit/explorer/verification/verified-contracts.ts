import { concatBytes, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { compileContracts } from '@tandem/explorer/verification/compiler/compile-process.ts'
import { type CompilerBuild, CompilerList } from '@tandem/explorer/verification/compiler/compiler-list.ts'
import { type SourceInput, standardInput } from '@tandem/explorer/verification/input/standard-input.ts'
import type { CompiledContract } from '@tandem/explorer/verification/match/compiled-contract.ts'
import { keptValue } from '../../../support/solc-cache.ts'

/** Sources that tests verify: a library, a contract that is linked to it, and one that creates another. */
export const SOURCES = {
  'src/Sums.sol': `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
library Sums { function plus(uint256 a, uint256 b) external pure returns (uint256) { return a + b; } }`,
  'src/Counter.sol': `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
import "./Sums.sol";
contract Counter {
  uint256 public immutable start; string public name; uint256 public count;
  event Added(address indexed by, uint256 amount);
  constructor(uint256 first, string memory title) { start = first; name = title; }
  function add(uint256 amount) external { count = Sums.plus(count, amount); emit Added(msg.sender, amount); }
}`,
  'src/Plain.sol': `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
contract Part { uint256 public value = 7; }
contract Plain { Part public part; function make() external { part = new Part(); } }`,
} as const

export const inputOf = (settings: object = {}, sources: Readonly<Record<string, string>> = SOURCES): SourceInput =>
  standardInput({
    language: 'Solidity',
    sources: Object.fromEntries(Object.entries(sources).map(([path, content]) => [path, { content }])),
    settings: { optimizer: { enabled: true, runs: 200 }, evmVersion: 'cancun', ...settings },
  })

export const VERSION = '0.8.37+commit.f401782d'
export const OLDER = '0.8.28+commit.7893614a'
const list = new CompilerList()
export const buildOf = (version = VERSION): Promise<CompilerBuild> => list.find(version)

/** A contract of the sources, compiled in the sandbox once for all test files. */
export const compileNamed = (name: string, input = inputOf(), version = VERSION): Promise<CompiledContract> =>
  keptValue(JSON.stringify({ name, input, version }), () => compileAnew(name, input, version))

export const compileAnew = async (name: string, input = inputOf(), version = VERSION): Promise<CompiledContract> => {
  const [compiled] = await compileContracts(await buildOf(version), input, { path: null, name })
  if (compiled === undefined) throw new Error(`no contract ${name}`)
  return compiled
}

/** Code with the address of the one library it is linked to. */
export const linked = (code: CompiledContract['creation'], library: Hex): Uint8Array => {
  const whole = Uint8Array.from(code.code)
  for (const ranges of code.links.values()) for (const { start } of ranges) whole.set(hexToBytes(library), start)
  return whole
}

const words = (...values: readonly (number | bigint)[]): Uint8Array =>
  concatBytes(...values.map(value => hexToBytes(toWord(BigInt(value)))))

/** Constructor arguments of Counter. */
export const counterArguments = (first: number, title: string): Uint8Array =>
  concatBytes(
    words(first, 64, title.length),
    Uint8Array.from({ length: 32 }, (_, at) => title.charCodeAt(at) || 0),
  )

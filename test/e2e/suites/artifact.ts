import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { ROOT } from '../../support/node-process.ts'
import { compileSolidity, type SolidityOptions } from '../../support/solidity.ts'

/** Contract ready to be deployed. */
export interface Artifact {
  readonly abi: readonly unknown[]
  /** Init code without constructor arguments. */
  readonly bytecode: Hex
}

/** Returns a contract that an npm package holds compiled. */
export const packageArtifact = (path: string): Artifact => {
  const { abi, bytecode } = JSON.parse(readFileSync(join(ROOT, 'node_modules', path), 'utf8')) as Artifact
  return { abi, bytecode: bytecode.startsWith('0x') ? bytecode : `0x${bytecode}` }
}

/** Compiles a file of test/e2e/suites/contracts; returns its contracts by name. */
export const compileSuite = (file: string, options?: SolidityOptions): ((name: string) => Artifact) => {
  const source = readFileSync(join(ROOT, 'test', 'e2e', 'suites', 'contracts', file), 'utf8')
  const contracts = compileSolidity(source, options)
  return name => {
    const found = contracts[name]
    if (found === undefined) throw new Error(`${file} has no contract ${name}`)
    return { abi: found.abi, bytecode: bytesToHex(found.bytecode) }
  }
}

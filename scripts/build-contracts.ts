/**
 * Compiles the system contracts to the committed artifacts beside them: ABI and runtime code, which genesis places. `--check`
 * compares instead of writing and fails on a difference. The compiler is pinned, so the same source gives the same bytes.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const FOLDER = fileURLToPath(new URL('../contracts/', import.meta.url))

/** Files hold one contract each, of the same name. */
export const CONTRACTS: readonly string[] = ['Council']

export const artifactPath = (name: string): string => `${FOLDER}${name}.json`

interface Output {
  readonly errors?: readonly { readonly formattedMessage: string }[]
  readonly contracts?: Record<
    string,
    Record<
      string,
      { readonly abi: readonly unknown[]; readonly evm: { readonly deployedBytecode: { readonly object: string } } }
    >
  >
}

/** The artifact's text. Throws with the compiler's words, for a warning too. */
export const compile = (name: string): string => {
  const solc = createRequire(import.meta.url)('solc') as { compile(input: string): string }
  const file = `${name}.sol`
  const input = {
    language: 'Solidity',
    sources: { [file]: { content: readFileSync(`${FOLDER}${file}`, 'utf8') } },
    settings: {
      optimizer: { enabled: true, runs: 200 },
      evmVersion: 'cancun',
      // No hash of the source in the code: a comment changes no genesis.
      metadata: { bytecodeHash: 'none', appendCBOR: false },
      outputSelection: { '*': { '*': ['abi', 'evm.deployedBytecode.object'] } },
    },
  }
  const { errors = [], contracts } = JSON.parse(solc.compile(JSON.stringify(input))) as Output
  const contract = contracts?.[file]?.[name]
  if (errors.length > 0 || contract === undefined)
    throw new Error(errors.map(error => error.formattedMessage).join('\n') || `${file} has no contract ${name}`)
  const { abi, evm } = contract
  return `${JSON.stringify({ runtime: `0x${evm.deployedBytecode.object}`, abi }, null, 2)}\n`
}

const main = (): void => {
  const check = process.argv.includes('--check')
  for (const name of CONTRACTS) {
    const text = compile(name)
    if (!check) writeFileSync(artifactPath(name), text)
    else if (text !== readFileSync(artifactPath(name), 'utf8'))
      throw new Error(`${artifactPath(name)} is not what its source compiles to`)
    console.log(`contracts/${name}.sol: ${(text.indexOf('"', 16) - 16) / 2} bytes`)
  }
}

if (import.meta.main) main()

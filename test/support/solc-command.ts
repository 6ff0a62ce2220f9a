import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

/** The npm compiler behind the command line of the native one, as far as forge uses it: `--version` and `--standard-json`. */
const solc = createRequire(import.meta.url)('solc') as { version(): string; compile(input: string): string }

process.stdout.write(
  process.argv.includes('--version')
    ? `solc, the solidity compiler commandline interface\nVersion: ${solc.version().replace('Emscripten.clang', 'Linux.g++')}\n`
    : solc.compile(readFileSync(0, 'utf8')),
)

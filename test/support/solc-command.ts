import { readFileSync } from 'node:fs'
import { compileJson, solcVersion } from './solc-cache.ts'

/** The npm compiler behind the command line of the native one, as far as forge uses it: `--version` and `--standard-json`. */
process.stdout.write(
  process.argv.includes('--version')
    ? `solc, the solidity compiler commandline interface\nVersion: ${solcVersion().replace('Emscripten.clang', 'Linux.g++')}\n`
    : compileJson(readFileSync(0, 'utf8')),
)

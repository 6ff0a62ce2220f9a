/**
 * Names of the module's AssemblyScript source for numbers that stand in TypeScript: opcodes, forks, and what module and host share.
 */
import { EVM_FORKS } from '../src/config/forks.ts'
import {
  ACCOUNT,
  FAILURE,
  FLAG,
  FRAME,
  INTERNAL,
  LOG,
  OUTCOME,
  SIZE,
  SLOT,
  STATUS,
  WORD,
} from '../src/evm/engines/wasm/protocol.ts'
import { OPCODES } from '../src/evm/opcodes.ts'

const upper = (name: string): string => name.replace(/[A-Z]/g, letter => `_${letter}`).toUpperCase()

const lines = (type: string, numbers: Readonly<Record<string, number>>, prefix = ''): readonly string[] =>
  Object.entries(numbers).map(([name, value]) => `export const ${prefix}${upper(name)}: ${type} = ${value};`)

const file = (source: string, names: readonly string[]): string =>
  [`/* Written by \`npm run build:wasm\` from ${source}. */`, ...names, ''].join('\n')

const FOLDER = 'src/evm/engines/wasm/assembly'

/** Files by path, with their text. */
export const NAME_FILES: Readonly<Record<string, string>> = {
  [`${FOLDER}/opcodes.ts`]: file(
    'src/evm/opcodes.ts',
    OPCODES.map(({ op, name }) => `export const ${name}: u32 = 0x${op.toString(16).padStart(2, '0')};`),
  ),
  [`${FOLDER}/forks.ts`]: file(
    'src/config/forks.ts',
    lines('i32', Object.fromEntries(EVM_FORKS.map((name, place) => [name, place]))),
  ),
  [`${FOLDER}/layout.ts`]: file('src/evm/engines/wasm/protocol.ts', [
    ...lines('i32', { ...STATUS, ...OUTCOME, ...FAILURE }),
    ...lines('usize', { ...ACCOUNT, ...SLOT, ...FRAME }),
    ...lines('u32', { ...FLAG, ...INTERNAL }),
    ...lines('usize', LOG, 'LOG_'),
    ...lines('usize', WORD, 'WORD_'),
    ...lines('usize', SIZE),
  ]),
}

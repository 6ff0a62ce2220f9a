/**
 * Names of the EVM module's AssemblyScript source for numbers that stand in TypeScript: opcodes, forks, and what module and host share. The
 * compiler gets them as files of the module's folder, where none of them stands.
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

const FOLDER = 'src/evm/engines/wasm/assembly'

/** Texts of the files by path. */
export const NAME_FILES: Readonly<Record<string, string>> = {
  [`${FOLDER}/opcodes.ts`]: OPCODES.map(({ op, name }) => `export const ${name}: u32 = ${op};`).join('\n'),
  [`${FOLDER}/forks.ts`]: lines('i32', Object.fromEntries(EVM_FORKS.map((name, place) => [name, place]))).join('\n'),
  [`${FOLDER}/layout.ts`]: [
    ...lines('i32', { ...STATUS, ...OUTCOME, ...FAILURE }),
    ...lines('usize', { ...ACCOUNT, ...SLOT, ...FRAME }),
    ...lines('u32', { ...FLAG, ...INTERNAL }),
    ...lines('usize', LOG, 'LOG_'),
    ...lines('usize', WORD, 'WORD_'),
    ...lines('usize', SIZE),
  ].join('\n'),
}

import { asm, loop, program, unrolled } from '../../worst-case/assembler.ts'
import { PROGRAMS } from './programs.ts'

/* Init code for transactions of any gas limit: what the search of `test/worst-case` finds slow for its gas, besides what never ends. */

/** Left over, more than one round of any loop costs, so that the creation succeeds and what it wrote stays. */
const RESERVE = 400_000n
/** One body again and again while gas lasts. */
const until = (body: string, before = ''): Uint8Array => program(asm(before), loop(unrolled(asm(body), 30), RESERVE))
/** Calls of a precompile with so many bytes of zero memory. */
const precompile = (address: number, size: number): Uint8Array => until(`0 0 ${size} 0 ${address} GAS STATICCALL POP`)
/** Init code that creates itself, as deep as gas and the depth limit let it, after some work of its own. */
const nested = (work: string): Uint8Array =>
  program(asm(`${work} CODESIZE 0 0 CODECOPY`), loop(asm('CODESIZE 0 0 CREATE POP'), 100_000n))

export const WORST_PROGRAMS: Readonly<Record<string, Uint8Array>> = {
  ...PROGRAMS,
  'blake2f calls that fail': precompile(9, 212),
  'ripemd160 of a word': precompile(3, 32),
  'identity of nothing': precompile(4, 0),
  'modexp of zeros': precompile(5, 96),
  'multiples of nothing': precompile(7, 96),
  'pairings of nothing': precompile(8, 0),
  'deep frames': nested(''),
  'deep frames with memory': nested('1 8160 MSTORE'),
  'deep frames with transient words': nested('GAS GAS TSTORE GAS GAS TSTORE'),
  'transient words': until('GAS GAS TSTORE'),
  'written slots that stay': until('1 GAS SSTORE'),
  'new accounts': until('0 0 0 0 1 GAS 0 CALL POP'),
  'cold accounts': until('GAS BALANCE POP'),
  'logs of four topics': until('1 2 3 4 0 0 LOG4'),
  'logs of four new topics': until('GAS GAS GAS GAS 0 0 LOG4'),
  'powers of the largest word': until('0 NOT 0 NOT EXP POP'),
}

import { asm, loop, program, push, unrolled } from '../assembler.ts'
import { CODES } from '../disk.ts'
import { callOf, family } from '../family.ts'
import { GAS_LEFT } from './frames.ts'

/* What fills the regions of the engine's memory: late, after other work, or again and again. */

/** Works until a sixth of the gas is left, and fills a region with the rest. */
const fullAfterWork = family({
  kind: 'regions that fill late',
  name: 'regions that fill late',
  axes: {
    work: ['7 GAS GAS MULMOD POP', '64 0 KECCAK256 POP', 'GAS POP', '0 0 0 0 0 5 GAS CALL POP'],
    fill: ['GAS TLOAD POP', 'GAS GAS TSTORE', '64 0 LOG0', 'GAS BALANCE POP', '4000000 0 RETURN'],
  },
  build({ work, fill }, gas) {
    const worked = loop(unrolled(asm(work)), gas / 6n)
    const end = fill.endsWith('RETURN') ? asm(fill) : loop(unrolled(asm(fill)), GAS_LEFT)
    return callOf(program(worked, end))
  },
})

/** Codes that one message reads again when they are warm. */
const warmCodes = family({
  kind: 'warm code, many times',
  name: 'warm code, many times',
  onDisk: true,
  axes: {
    read: [
      'EXTCODESIZE POP',
      '0 0 0 0 DUP5 GAS STATICCALL POP POP',
      '0 0 0 0 DUP5 GAS DELEGATECALL POP POP',
      '1 0 0 DUP4 EXTCODECOPY POP',
    ],
    count: [500, 1_000, 1_900, 2_300, 2_600, 3_000, 3_500, 4_000],
    step: [1, 777],
  },
  build({ read, count, step }) {
    const next = asm(`DUP1 ${CODES.first} ADD ${read} ${step} ADD ${count} SWAP1 MOD`)
    return callOf(program(push(0), loop(unrolled(next), GAS_LEFT)))
  },
})

export const REGION_FAMILIES = [fullAfterWork, warmCodes]

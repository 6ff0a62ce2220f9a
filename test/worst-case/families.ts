import { FRAME_FAMILIES } from './families/frames.ts'
import { KIND_FAMILIES } from './families/kinds.ts'
import { OPCODE_FAMILIES } from './families/opcodes.ts'
import { PRECOMPILE_FAMILIES } from './families/precompiles.ts'
import { REGION_FAMILIES } from './families/regions.ts'
import { STATE_FAMILIES } from './families/state.ts'
import type { Family } from './family.ts'

export const FAMILIES: readonly Family[] = [
  ...OPCODE_FAMILIES,
  ...FRAME_FAMILIES,
  ...KIND_FAMILIES,
  ...STATE_FAMILIES,
  ...REGION_FAMILIES,
  ...PRECOMPILE_FAMILIES,
]

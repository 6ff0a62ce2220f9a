import type { Eligible } from '../../../src/consensus/committee.ts'
import type { Hex } from '../../../src/util/bytes.ts'

/** Members that have served and sealed, with the admissions from 1 on. */
export const settledMembers = (validators: readonly Hex[]): readonly Eligible[] =>
  validators.map((validator, at) => ({
    validator,
    admission: at + 1,
    isRecent: false,
    isHeard: true,
    idleness: undefined,
  }))

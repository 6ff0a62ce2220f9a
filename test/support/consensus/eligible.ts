import type { Hex } from '@tandem/base/bytes.ts'
import type { Eligible } from '../../../src/consensus/committee.ts'

/** Members that have served and sealed, with the admissions from 1 on. */
export const settledMembers = (validators: readonly Hex[]): readonly Eligible[] =>
  validators.map((validator, at) => ({
    validator,
    admission: at + 1,
    isRecent: false,
    isHeard: true,
    idleness: undefined,
  }))

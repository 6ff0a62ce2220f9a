import type { ProfileName } from './plan/profiles.ts'

/** Parsed options of `tandem sim`. */
export interface SimFlags {
  readonly seed: number
  readonly seeds: number
  readonly heights: number
  readonly nodes?: number
  readonly profile: ProfileName
  readonly jobs: number
  readonly json: boolean
}

/** Probability of each kind of fault in a run. Each fault of a run has its own strength, so that rare schedules occur. */
export interface Profile {
  readonly summary: string
  readonly weather: number
  readonly splits: number
  readonly crashes: number
  readonly pauses: number
  readonly clocks: number
  readonly liars: number
  readonly council: number
  /** With liars only. */
  readonly slow: number
  readonly nonsense: number
}

const NONE = { weather: 0, splits: 0, crashes: 0, pauses: 0, clocks: 0, liars: 0, council: 0, slow: 0, nonsense: 0 }

export const PROFILES = {
  calm: { ...NONE, summary: 'nothing goes wrong' },
  lossy: { ...NONE, weather: 1, summary: 'messages are lost, doubled, delayed and overtaken' },
  partitions: { ...NONE, splits: 1, weather: 0.3, summary: 'the network splits, both ways or one way' },
  crashes: { ...NONE, crashes: 1, pauses: 0.3, weather: 0.3, summary: 'members lose power at every write and send' },
  clocks: { ...NONE, clocks: 1, weather: 0.3, summary: 'clocks go wrong by seconds, and leap' },
  council: { ...NONE, council: 1, weather: 0.3, crashes: 0.3, summary: 'the validators change from cycle to cycle' },
  byzantine: { ...NONE, liars: 1, weather: 0.5, splits: 0.2, summary: 'as many members lie as may be faulty' },
  slow: { ...NONE, liars: 1, slow: 1, summary: 'liars and clients make others execute as much as gas allows' },
  nonsense: {
    ...{ ...NONE, liars: 1, nonsense: 1, weather: 0.5, crashes: 0.3, council: 0.2 },
    summary: 'liars say messages of every kind with fields by chance',
  },
  swarm: {
    weather: 0.7,
    splits: 0.4,
    crashes: 0.5,
    pauses: 0.2,
    clocks: 0.25,
    liars: 0.5,
    council: 0.3,
    slow: 0.25,
    nonsense: 0,
    summary: 'any of all this',
  },
} as const satisfies Readonly<Record<string, Profile>>

export type ProfileName = keyof typeof PROFILES
export const PROFILE_NAMES = Object.keys(PROFILES) as readonly ProfileName[]

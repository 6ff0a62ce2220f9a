/** Probability of each kind of fault in a run. Each fault of a run has its own strength, so that rare schedules occur. */
export interface Profile {
  readonly summary: string
  readonly linkFaults: number
  readonly partitions: number
  readonly crashes: number
  readonly pauses: number
  readonly clocks: number
  readonly byzantine: number
  readonly council: number
  /** With Byzantine members only. */
  readonly slow: number
  readonly fuzz: number
  readonly mining: number
  /** One or two bodies of a height are kept. */
  readonly bodies: number
  /** Byzantine members hide certificates together, in committees of up to 31. */
  readonly hidden: number
  /** After the first round they propose blocks that nobody can prepare. */
  readonly disguised: number
  /** Bodies are withheld by Byzantine members, and lost for long on the way to those that request them. */
  readonly withheld: number
  /** A member that lost its log and newest blocks hears only a Byzantine one, which sends old heights again. */
  readonly eclipse: number
  /** A member comes back without a part of its folder, or all of it, with a clock that is behind, or hears only a Byzantine one. */
  readonly wiped: number
  /** So many members are down that one height takes minutes, while Byzantine ones vote. */
  readonly stall: number
  /** Members reach each other only through relays. */
  readonly relays: number
  /** Members that were away for many blocks fetch them in ranges, also from Byzantine ones. */
  readonly blockSync: number
  /** With changing validators: some members of a cycle take no turns as proposers. */
  readonly resting: number
}

const NONE = {
  linkFaults: 0,
  partitions: 0,
  crashes: 0,
  pauses: 0,
  clocks: 0,
  byzantine: 0,
  council: 0,
  slow: 0,
  fuzz: 0,
  mining: 0,
  bodies: 0,
  hidden: 0,
  disguised: 0,
  withheld: 0,
  eclipse: 0,
  wiped: 0,
  stall: 0,
  relays: 0,
  blockSync: 0,
  resting: 0,
}

export const PROFILES = {
  calm: { ...NONE, summary: 'nothing goes wrong' },
  lossy: { ...NONE, linkFaults: 1, summary: 'messages are lost, doubled, delayed and overtaken' },
  partitions: { ...NONE, partitions: 1, linkFaults: 0.3, summary: 'the network partitions, both ways or one way' },
  crashes: { ...NONE, crashes: 1, pauses: 0.3, linkFaults: 0.3, summary: 'members lose power at every write and send' },
  clocks: { ...NONE, clocks: 1, linkFaults: 0.3, summary: 'clocks go wrong by seconds, and jump' },
  council: {
    ...{ ...NONE, council: 1, linkFaults: 0.3, crashes: 0.3, resting: 0.3 },
    summary: 'the validators change from cycle to cycle, and some of them rest',
  },
  byzantine: {
    ...NONE,
    byzantine: 1,
    linkFaults: 0.5,
    partitions: 0.2,
    summary: 'as many Byzantine members as are tolerated',
  },
  slow: {
    ...NONE,
    byzantine: 1,
    slow: 1,
    summary: 'Byzantine members and clients make others execute as much as gas allows',
  },
  fuzz: {
    ...{ ...NONE, byzantine: 1, fuzz: 1, linkFaults: 0.5, crashes: 0.3, council: 0.2 },
    summary: 'Byzantine members send messages of every kind with random fields',
  },
  mining: {
    ...{ ...NONE, mining: 1, byzantine: 0.5, linkFaults: 0.5, partitions: 0.3, crashes: 0.3, council: 0.2 },
    summary: 'miners find proof headers, withhold them, and Byzantine members leave them out or forge them',
  },
  bodies: {
    ...{ ...NONE, bodies: 1, byzantine: 0.7, linkFaults: 0.7, partitions: 0.3, crashes: 0.4, pauses: 0.2 },
    summary: 'members keep one or two bodies of a height, under faults and Byzantine members',
  },
  hidden: {
    ...{ ...NONE, hidden: 1, byzantine: 1, bodies: 0.5, linkFaults: 0.2, crashes: 0.1 },
    summary: 'Byzantine proposers in a row collect certificates, and claim them once the blocks may be gone',
  },
  restarts: {
    ...{ ...NONE, hidden: 1, byzantine: 1, bodies: 1, linkFaults: 0.5, crashes: 1 },
    summary: 'the same with one or two bodies of a height, while members lose power',
  },
  claims: {
    ...{ ...NONE, hidden: 1, byzantine: 1, bodies: 1, disguised: 1 },
    summary: 'Byzantine proposers in a row hide a certificate behind invalid blocks, and nothing else goes wrong',
  },
  withheld: {
    ...{ ...NONE, withheld: 1, linkFaults: 0.7 },
    summary:
      'Byzantine proposers withhold the blocks that they claim, and blocks that members request are lost for long',
  },
  eclipse: {
    ...{ ...NONE, eclipse: 1, linkFaults: 0.3 },
    summary: 'a member without its log and newest blocks hears only a Byzantine one, which sends old heights again',
  },
  wiped: {
    ...{ ...NONE, wiped: 1, linkFaults: 0.5 },
    summary:
      'a member loses its folder, and starts among members that are ahead, Byzantine ones, or with a clock behind',
  },
  stall: {
    ...{ ...NONE, stall: 1 },
    summary:
      'one member too many is down, and one height takes more than a hundred rounds, in which Byzantine members vote',
  },
  relay: {
    ...{
      ...NONE,
      relays: 1,
      crashes: 0.7,
      partitions: 0.6,
      linkFaults: 0.7,
      pauses: 0.2,
      council: 0.3,
      resting: 0.5,
      byzantine: 0.3,
    },
    summary: 'members, some of them Byzantine, reach each other only through relays, which restart and are cut off',
  },
  synced: {
    ...{
      ...NONE,
      blockSync: 1,
      eclipse: 0.25,
      wiped: 0.25,
      crashes: 0.5,
      partitions: 0.4,
      linkFaults: 0.6,
      pauses: 0.3,
      council: 0.4,
      byzantine: 0.6,
    },
    summary: 'members that were away fetch ranges of blocks, some of them false, leave their height and open it again',
  },
  swarm: {
    linkFaults: 0.7,
    partitions: 0.4,
    crashes: 0.5,
    pauses: 0.2,
    clocks: 0.25,
    byzantine: 0.5,
    council: 0.3,
    slow: 0.25,
    fuzz: 0,
    mining: 0.4,
    bodies: 0.2,
    hidden: 0,
    disguised: 0,
    withheld: 0,
    eclipse: 0,
    wiped: 0,
    stall: 0,
    relays: 0,
    blockSync: 0,
    resting: 0.3,
    summary: 'any of all this, without relays',
  },
} as const satisfies Readonly<Record<string, Profile>>

export type ProfileName = keyof typeof PROFILES
export const PROFILE_NAMES = Object.keys(PROFILES) as readonly ProfileName[]

const SPACE = 2n ** 256n
/** Target of difficulty 1: 0x00000000ffff and 26 zero bytes. */
const DIFFICULTY_1_TARGET = 0xffffn << 208n

/** Expected hashes until one meets a target. */
export const hashesOfTarget = (target: bigint): number => Number(SPACE) / Number(target + 1n)

/** Target that takes so many hashes on average. */
export const targetOfHashes = (hashes: number): bigint => SPACE / BigInt(Math.max(1, Math.round(hashes))) - 1n

/** Difficulty as `mining.set_difficulty` counts it. */
export const difficultyOfTarget = (target: bigint): number => Number(DIFFICULTY_1_TARGET) / Number(target + 1n)

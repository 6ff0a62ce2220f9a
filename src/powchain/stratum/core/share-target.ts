const SPACE = 2n ** 256n
/** Expected hashes at difficulty 1, whose target is 0x00000000ffff and 26 zero bytes. */
const DIFFICULTY_1_HASHES = Number(SPACE / (0xffffn << 208n))

/** Expected hashes until one meets a target. */
export const hashesOfTarget = (target: bigint): number => Number(SPACE / (target + 1n))

/** Target that takes so many hashes on average. */
export const targetOfHashes = (hashes: number): bigint => SPACE / BigInt(Math.max(1, Math.round(hashes))) - 1n

/** Difficulty as `mining.set_difficulty` counts it. */
export const difficultyOfTarget = (target: bigint): number => hashesOfTarget(target) / DIFFICULTY_1_HASHES

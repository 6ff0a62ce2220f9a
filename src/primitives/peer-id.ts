/** Node id of a connected peer, 64 hex digits. */
export type PeerId = string

/* Module of the batch trie: one account trie and the storage tries of its accounts. trie.ts of the folder above wraps it. */
export { accountCount, apply, inputFor } from "./apply";
export { freeBytes, memoryBytes, usedBytes } from "./memory";
export { foundAt, keysAt, nodesAt, nodesSize, proveAccount, proveSlot, root } from "./proof";
export { undoAt, undoSize } from "./records";

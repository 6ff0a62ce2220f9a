/* Module of the batch trie: one account trie and the storage tries of its accounts. trie.ts of the folder above wraps it. */
export { accountCount, apply, inputFor, setAccountCount } from "./apply";
export { freeBytes, memoryBytes, usedBytes } from "./memory";
export { missingAt, missingCount } from "./missing";
export { dirtyBranches } from "./nodes";
export { foundAt, keysAt, locate, nodesAt, nodesSize, proveAccount, proveSlot, root } from "./proof";
export { undoAt, undoSize } from "./records";
export { attach, attachEmpty, divideRows, expand, flush, outputAt, rowFor, trim } from "./rows";

/**
 * Result of validating a message, in gossipsub's terms: accepted ones are relayed, rejected ones lower the sender's
 * score, ignored ones neither.
 */
export type MessageAcceptance = 'accept' | 'reject' | 'ignore'

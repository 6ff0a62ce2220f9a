/** Result of validating a message, in gossipsub's words: accepted ones are relayed, rejected ones cost the sender score, ignored ones neither. */
export type MessageAcceptance = 'accept' | 'reject' | 'ignore'

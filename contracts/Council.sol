// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/**
 * The register of validators, predeployed by genesis at 0x0000000000000000000000000000000000000400.
 *
 * A validator is a key that votes; its owner is the account that registered it, holds its stake and votes on admissions. Nodes read
 * the members from storage after the last block of each cycle, by the layout below (src/rules/council/council-storage.ts); nothing
 * here decides who serves in a committee. Every wei of the balance beyond the stakes and what is owed was forced in and stays.
 *
 * A key is registered only with its own signature for this owner and reward address, so nobody takes it, and an approval names the
 * registration that its voter saw. Payment is pulled: no owner's code runs before its key is free.
 *
 * Evidence against a validator is no transaction: nodes judge what a block carries and write `jailedAt` themselves, after the
 * block's last transaction. A jailed key keeps its seat until it leaves, has no vote, and is never registered again.
 *
 * Storage, one word each; genesis writes 0 to 4 and the members it names:
 *   0  members: their number; validator i at keccak256(0) + i
 *   1  registrations: that of a validator begins at keccak256(validator, 1)
 *        +0  owner (bits 0-159), status (160-167), index among the members (168-199), id (200-255)
 *        +1  reward address (0-159), time from which the stake may be withdrawn, unix seconds (160-223), admission (224-255)
 *        +2  stake, wei
 *        +3  name, up to 32 bytes of text, zeros behind it
 *   2  least stake, wei
 *   3  seconds between the request to leave and the withdrawal (0-63), open registration (64-71), last id given (72-127),
 *      last admission (128-159)
 *   4  validatorOf: that of an owner at keccak256(owner, 4)
 *   5  approved: whether a member (by id) approved a candidate (by id)
 *   6  jailedAt: block whose evidence jailed a validator, at keccak256(validator, 6); 0: none did. Written by the protocol alone
 *   7  registrationCount: how often a validator was registered
 *   8  owed: wei that an owner may collect
 */
contract Council {
    enum Status {
        None,
        Candidate,
        Member,
        Leaving
    }

    struct Registration {
        address owner;
        Status status;
        uint32 index;
        uint56 id;
        address reward;
        uint64 withdrawableAt;
        /// 1 for the first member there was, and so on. Committees are drawn by it: nobody chooses it, and none is given twice.
        uint32 admission;
        uint256 stake;
        bytes32 name;
    }

    /// What nodes read in one go is bounded.
    uint256 public constant MAX_MEMBERS = 256;

    address[] private _members;
    mapping(address validator => Registration) private _registrations;
    uint256 public minStake;
    uint64 public unbondingSeconds;
    bool public openRegistration;
    uint56 private _lastId;
    uint32 private _lastAdmission;
    mapping(address owner => address validator) public validatorOf;
    mapping(uint256 candidateId => mapping(uint256 memberId => bool)) private _approved;
    mapping(address validator => uint256 number) public jailedAt;
    mapping(address validator => uint256 count) public registrationCount;
    mapping(address owner => uint256 amount) public owed;

    event Registered(address indexed validator, address indexed owner, address reward, string name, uint256 stake);
    event StakeAdded(address indexed validator, uint256 amount, uint256 stake);
    event RewardChanged(address indexed validator, address reward);
    event Approved(address indexed candidate, address indexed member, uint256 id);
    event Revoked(address indexed candidate, address indexed member, uint256 id);
    event Admitted(address indexed validator, uint256 members);
    event ExitRequested(address indexed validator, uint64 withdrawableAt);
    event Withdrawn(address indexed validator, address indexed owner, uint256 amount);
    event Collected(address indexed owner, address to, uint256 amount);

    error NameLength(uint256 length);
    error ZeroAddress();
    error SignatureInvalid(address validator);
    error StakeTooSmall(uint256 have, uint256 want);
    error ValidatorTaken(address validator);
    error OwnerTaken(address owner, address validator);
    error NotRegistered(address account);
    error NotCandidate(address validator);
    error NotMember(address owner);
    error Jailed(address validator);
    error NothingSent();
    error AnotherRegistration(address candidate, uint256 have, uint256 want);
    error AlreadyApproved(address candidate, address member);
    error NotApproved(address candidate, address member);
    error NotEnoughApprovals(uint256 have, uint256 want);
    error CouncilFull();
    error LastMember();
    error AlreadyLeaving(address validator);
    error NotLeaving(address validator);
    error TooEarly(uint64 withdrawableAt);
    error NothingOwed(address owner);
    error TransferFailed();

    /// Bytes 0 to 31 of r, then s, then v (27 or 28), as wallets write a signature.
    uint256 private constant SIGNATURE_BYTES = 65;
    /// Half of the order of the curve: the higher s of the two that a signature can have is refused.
    uint256 private constant HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0;

    /**
     * Makes the sender owner of a candidate, with the value as its stake; of a member where registration is open. `signature` is that of the
     * validator's key over `registrationHash`, as a message of 32 bytes (EIP-191).
     */
    function register(string calldata name, address validator, address reward, bytes calldata signature) external payable {
        uint256 length = bytes(name).length;
        if (length == 0 || length > 32) revert NameLength(length);
        if (validator == address(0) || reward == address(0)) revert ZeroAddress();
        if (msg.value < minStake) revert StakeTooSmall(msg.value, minStake);
        Registration storage registration = _registrations[validator];
        if (registration.status != Status.None) revert ValidatorTaken(validator);
        if (jailedAt[validator] != 0) revert Jailed(validator);
        address owned = validatorOf[msg.sender];
        if (owned != address(0)) revert OwnerTaken(msg.sender, owned);
        if (!_isSigned(registrationHash(validator, msg.sender, reward), signature, validator)) revert SignatureInvalid(validator);

        registrationCount[validator]++;
        validatorOf[msg.sender] = validator;
        registration.owner = msg.sender;
        registration.status = Status.Candidate;
        // A new number each time: approvals of an earlier registration count for nothing.
        registration.id = ++_lastId;
        registration.reward = reward;
        registration.stake = msg.value;
        registration.name = bytes32(bytes(name));
        emit Registered(validator, msg.sender, reward, name, msg.value);
        if (openRegistration) _admit(validator);
    }

    /// What a validator's key signs to be registered for an owner and a reward address, once: each registration changes it.
    function registrationHash(address validator, address owner, address reward) public view returns (bytes32) {
        return keccak256(abi.encode(block.chainid, address(this), validator, owner, reward, registrationCount[validator]));
    }

    /// Pays the sender's validator to another address, from the cycle on that the next council serves.
    function setReward(address reward) external {
        if (reward == address(0)) revert ZeroAddress();
        (address validator, Registration storage registration) = _owned(msg.sender);
        if (registration.status == Status.Leaving) revert AlreadyLeaving(validator);
        registration.reward = reward;
        emit RewardChanged(validator, reward);
    }

    /// Adds the value to the stake of the sender's validator.
    function addStake() external payable {
        if (msg.value == 0) revert NothingSent();
        (address validator, Registration storage registration) = _owned(msg.sender);
        if (registration.status == Status.Leaving) revert AlreadyLeaving(validator);
        registration.stake += msg.value;
        emit StakeAdded(validator, msg.value, registration.stake);
    }

    /**
     * The vote of the sender's member for the registration `id` of a candidate, which is admitted with those of more than two thirds of the
     * members. It lapses when the member leaves or is jailed.
     */
    function approve(address candidate, uint256 id) external {
        (address member, uint256 voterId) = _voter();
        uint256 have = _candidateId(candidate);
        if (have != id) revert AnotherRegistration(candidate, have, id);
        if (_approved[id][voterId]) revert AlreadyApproved(candidate, member);
        _approved[id][voterId] = true;
        emit Approved(candidate, member, id);
        if (approvals(candidate) >= approvalsNeeded()) _admit(candidate);
    }

    /// Takes the vote of the sender's member for a candidate back.
    function revoke(address candidate) external {
        (address member, uint256 voterId) = _voter();
        uint256 id = _candidateId(candidate);
        if (!_approved[id][voterId]) revert NotApproved(candidate, member);
        _approved[id][voterId] = false;
        emit Revoked(candidate, member, id);
    }

    /// Admits a candidate whose approvals suffice by now, as they may when members have left. Anybody may ask.
    function admit(address candidate) external {
        _candidateId(candidate);
        (uint256 have, uint256 want) = (approvals(candidate), approvalsNeeded());
        if (have < want) revert NotEnoughApprovals(have, want);
        _admit(candidate);
    }

    /**
     * Ends a registration: by its owner, or by the validator's own key, which need not suffer that a stranger registered it. A
     * candidate's stake is free at once; a member's when the unbonding time is over.
     */
    function requestExit(address validator) external {
        Registration storage registration = _registrations[validator];
        bool mayEnd = msg.sender == registration.owner || msg.sender == validator;
        if (registration.status == Status.None || !mayEnd) revert NotRegistered(msg.sender);
        if (registration.status == Status.Leaving) revert AlreadyLeaving(validator);
        uint64 withdrawableAt = uint64(block.timestamp);
        if (registration.status == Status.Member) {
            _remove(registration);
            withdrawableAt += unbondingSeconds;
        }
        registration.status = Status.Leaving;
        registration.withdrawableAt = withdrawableAt;
        emit ExitRequested(validator, withdrawableAt);
    }

    /// Frees the key and the owner of a validator that left, and owes its stake to the owner. Anybody may ask.
    function withdraw(address validator) external {
        Registration memory registration = _registrations[validator];
        if (registration.status != Status.Leaving) revert NotLeaving(validator);
        if (block.timestamp < registration.withdrawableAt) revert TooEarly(registration.withdrawableAt);
        delete _registrations[validator];
        delete validatorOf[registration.owner];
        owed[registration.owner] += registration.stake;
        emit Withdrawn(validator, registration.owner, registration.stake);
    }

    /// Pays what is owed to the sender, to any address.
    function collect(address payable to) external {
        uint256 amount = owed[msg.sender];
        if (amount == 0) revert NothingOwed(msg.sender);
        if (to == address(0)) revert ZeroAddress();
        // Nothing is owed any more before the receiver's code runs.
        owed[msg.sender] = 0;
        emit Collected(msg.sender, to, amount);
        (bool paid, ) = to.call{value: amount}("");
        if (!paid) revert TransferFailed();
    }

    function members() external view returns (address[] memory) {
        return _members;
    }

    function registrationOf(address validator) external view returns (Registration memory) {
        return _registrations[validator];
    }

    /// Voters that approved the candidate: what members that left or were jailed have said does not count.
    function approvals(address candidate) public view returns (uint256 count) {
        uint256 id = _registrations[candidate].id;
        for (uint256 i = 0; i < _members.length; i++) {
            address member = _members[i];
            if (_approved[id][_registrations[member].id] && jailedAt[member] == 0) count++;
        }
    }

    /// More than two thirds of the members that are not jailed.
    function approvalsNeeded() public view returns (uint256) {
        uint256 voters = 0;
        for (uint256 i = 0; i < _members.length; i++) {
            if (jailedAt[_members[i]] == 0) voters++;
        }
        return (2 * voters) / 3 + 1;
    }

    function _owned(address owner) private view returns (address validator, Registration storage registration) {
        validator = validatorOf[owner];
        registration = _registrations[validator];
        if (registration.status == Status.None) revert NotRegistered(owner);
    }

    /// The sender's member, which may vote, and its id.
    function _voter() private view returns (address member, uint256 id) {
        member = validatorOf[msg.sender];
        Registration storage voter = _registrations[member];
        if (voter.status != Status.Member) revert NotMember(msg.sender);
        if (jailedAt[member] != 0) revert Jailed(member);
        id = voter.id;
    }

    function _isSigned(bytes32 hash, bytes calldata signature, address by) private pure returns (bool) {
        if (signature.length != SIGNATURE_BYTES || uint256(bytes32(signature[32:64])) > HALF_ORDER) return false;
        bytes32 digest = keccak256(abi.encodePacked("\x19Ethereum Signed Message:\n32", hash));
        // The zero address is what the precompile answers to a signature of nobody.
        return by != address(0) && ecrecover(digest, uint8(signature[64]), bytes32(signature[0:32]), bytes32(signature[32:64])) == by;
    }

    function _candidateId(address candidate) private view returns (uint256) {
        Registration storage registration = _registrations[candidate];
        if (registration.status != Status.Candidate) revert NotCandidate(candidate);
        if (jailedAt[candidate] != 0) revert Jailed(candidate);
        return registration.id;
    }

    function _admit(address validator) private {
        if (_members.length >= MAX_MEMBERS) revert CouncilFull();
        Registration storage registration = _registrations[validator];
        registration.status = Status.Member;
        registration.index = uint32(_members.length);
        registration.admission = ++_lastAdmission;
        _members.push(validator);
        emit Admitted(validator, _members.length);
    }

    /// The last one takes the place of the one that goes.
    function _remove(Registration storage registration) private {
        uint256 last = _members.length - 1;
        if (last == 0) revert LastMember();
        uint32 index = registration.index;
        address moved = _members[last];
        _members[index] = moved;
        _registrations[moved].index = index;
        _members.pop();
    }
}

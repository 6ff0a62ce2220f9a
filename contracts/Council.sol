// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/**
 * The register of validators, predeployed by genesis at 0x0000000000000000000000000000000000000400.
 *
 * A validator is a key that votes; its owner is the account that registered it, holds its stake and votes on admissions. Nodes read
 * the members from storage after the last block of each cycle, by the layout below (src/rules/council/council-storage.ts); nothing
 * here decides who serves in a committee. Every wei of the balance beyond the stakes was forced in and stays.
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

    event Registered(address indexed validator, address indexed owner, address reward, string name, uint256 stake);
    event StakeAdded(address indexed validator, uint256 amount, uint256 stake);
    event Approved(address indexed candidate, address indexed member);
    event Admitted(address indexed validator, uint256 members);
    event ExitRequested(address indexed validator, uint64 withdrawableAt);
    event Withdrawn(address indexed validator, address indexed owner, uint256 amount);

    error NameLength(uint256 length);
    error ZeroAddress();
    error StakeTooSmall(uint256 have, uint256 want);
    error ValidatorTaken(address validator);
    error OwnerTaken(address owner, address validator);
    error NotRegistered(address account);
    error NotCandidate(address validator);
    error NotMember(address owner);
    error Jailed(address validator);
    error NothingSent();
    error AlreadyApproved(address candidate, address member);
    error NotEnoughApprovals(uint256 have, uint256 want);
    error CouncilFull();
    error LastMember();
    error AlreadyLeaving(address validator);
    error NotLeaving(address validator);
    error TooEarly(uint64 withdrawableAt);
    error TransferFailed();

    /// Makes the sender owner of a candidate, with the value as its stake; of a member where registration is open.
    function register(string calldata name, address validator, address reward) external payable {
        uint256 length = bytes(name).length;
        if (length == 0 || length > 32) revert NameLength(length);
        if (validator == address(0) || reward == address(0)) revert ZeroAddress();
        if (msg.value < minStake) revert StakeTooSmall(msg.value, minStake);
        Registration storage registration = _registrations[validator];
        if (registration.status != Status.None) revert ValidatorTaken(validator);
        if (jailedAt[validator] != 0) revert Jailed(validator);
        address owned = validatorOf[msg.sender];
        if (owned != address(0)) revert OwnerTaken(msg.sender, owned);

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

    /// Adds the value to the stake of the sender's validator.
    function addStake() external payable {
        if (msg.value == 0) revert NothingSent();
        (address validator, Registration storage registration) = _owned(msg.sender);
        if (registration.status == Status.Leaving) revert AlreadyLeaving(validator);
        registration.stake += msg.value;
        emit StakeAdded(validator, msg.value, registration.stake);
    }

    /// The vote of the sender's member for a candidate, which is admitted with those of more than two thirds of the members.
    function approve(address candidate) external {
        address member = validatorOf[msg.sender];
        Registration storage voter = _registrations[member];
        if (voter.status != Status.Member) revert NotMember(msg.sender);
        if (jailedAt[member] != 0) revert Jailed(member);
        uint256 id = _candidateId(candidate);
        if (_approved[id][voter.id]) revert AlreadyApproved(candidate, member);
        _approved[id][voter.id] = true;
        emit Approved(candidate, member);
        if (approvals(candidate) >= approvalsNeeded()) _admit(candidate);
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

    /// Pays the stake of a validator that left back to its owner, and frees both addresses. Anybody may ask.
    function withdraw(address validator) external {
        Registration memory registration = _registrations[validator];
        if (registration.status != Status.Leaving) revert NotLeaving(validator);
        if (block.timestamp < registration.withdrawableAt) revert TooEarly(registration.withdrawableAt);
        // Everything is gone before the owner's code runs.
        delete _registrations[validator];
        delete validatorOf[registration.owner];
        emit Withdrawn(validator, registration.owner, registration.stake);
        (bool paid, ) = registration.owner.call{value: registration.stake}("");
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

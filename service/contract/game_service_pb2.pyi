from sodafountain.v1.game_service_pb2 import *

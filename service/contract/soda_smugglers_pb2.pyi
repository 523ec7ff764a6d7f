from sodafountain.v1.soda_smugglers_pb2 import *
